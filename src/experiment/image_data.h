// The pictures of an experiment: below the data folder, mixed, and cut into those that are trained
// on, those that are held out of everything, and others that only judge.
#pragma once

#include "experiment/workload.h"
#include "jeffreys/image/classifier_features.h"

namespace jeffreys::experiment {

struct Pictures {
  Images training;
  // The first ones in a random order, which is the same in all runs: neither the autoencoder nor
  // a density sees them.
  Images held_out;
  // In neither; for the network in whose features distances are measured. There may be none. The
  // labels are empty where the pictures have none.
  LabelledImages others;
};

// job.source: celeba, mnist or fashion-mnist. Throws MissingData that says where to get it,
// InputError for a file without enough pictures, and Interrupted.
[[nodiscard]] Pictures read_pictures(const Job& job, const JobContext& context);

}  // namespace jeffreys::experiment
