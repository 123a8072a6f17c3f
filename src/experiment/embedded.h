// The experiments, compiled in: the program finds them wherever it is installed. CMake makes the
// list from the names in src/experiment/CMakeLists.txt.
#pragma once

#include <span>
#include <string_view>

namespace jeffreys::experiment {

class Results;
class Section;

struct Experiment {
  std::string_view name;  // of experiments/NAME.toml
  std::string_view text;  // of that file
  // What src/experiment/NAME.cc says about results, some of which may be missing.
  void (*describe)(const Results& results, Section& section);
};

// In the order of the paper.
[[nodiscard]] std::span<const Experiment> all_experiments();

// Throws std::invalid_argument for an unknown name, listing the known ones.
[[nodiscard]] const Experiment& find_experiment(std::string_view name);

}  // namespace jeffreys::experiment
