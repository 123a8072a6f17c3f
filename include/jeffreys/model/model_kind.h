// The kinds of models that files may hold. A new one is a class and one entry of this list: see
// docs/extending.md.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "jeffreys/model/density.h"

namespace jeffreys {

template <typename T>
struct ModelKind {
  std::string name;  // the field "model" of its architecture
  // A lower bound of the number of parameters, so that a damaged file is refused before memory is
  // taken. Throws std::invalid_argument for a text that is no architecture of this kind.
  std::function<double(const std::string& architecture)> least_parameters;
  // A model of this architecture; its parameters and state are read next.
  std::function<std::unique_ptr<UnnormalizedDensity<T>>(const std::string& architecture)> make;
};

// Adds a kind of the caller's own to those of the library, for all files that are read later.
// Throws std::invalid_argument if the name is taken.
template <typename T>
void register_model_kind(ModelKind<T> kind);

// Throws std::invalid_argument for an unknown name, listing the known ones.
template <typename T>
ModelKind<T> find_model_kind(const std::string& name);

// A line for people: the kind, its architecture and the number of parameters.
template <typename T>
std::string describe_model(const UnnormalizedDensity<T>& model);

}  // namespace jeffreys
