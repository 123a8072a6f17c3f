// Flows to and from Zuko (Python): an .npz archive of a state dict, as
//   numpy.savez("weights.npz", **{"param." + k: v.numpy() for k, v in flow.state_dict().items()})
// writes it; the prefix "param." may be left out. What export_zuko writes loads with
//   flow.load_state_dict({k[6:]: torch.from_numpy(v) for k, v in numpy.load(...).items()})
#pragma once

#include <filesystem>

#include "jeffreys/model/spline_flow.h"

namespace jeffreys {

// Reads a zuko.flows.NSF with any number of features, context, transforms, bins, hidden layers and
// any feature order. Throws InputError if the archive holds anything else.
template <typename T>
SplineFlow<T> import_zuko(const std::filesystem::path& path);

// Weights, orders, masks and base distribution; the file is replaced atomically. Throws
// std::invalid_argument for a model that is no spline flow.
template <typename T>
void export_zuko(const UnnormalizedDensity<T>& model, const std::filesystem::path& path);

}  // namespace jeffreys
