#include "experiment/folder.h"

#include <fmt/format.h>

#include <fstream>

#include "experiment/run_file.h"
#include "jeffreys/base/input_error.h"
#include "jeffreys/experiment/reproduce.h"

namespace jeffreys::experiment {
namespace {

constexpr std::string_view kScale = "# scale = ";

std::filesystem::path settings_file(const std::filesystem::path& folder) {
  return folder / "experiment.toml";
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The number after kScale in the first line.
std::optional<double> scale_of(const std::string& text) {
  if (!text.starts_with(kScale)) return std::nullopt;
  return std::strtod(text.c_str() + kScale.size(), nullptr);
}

}  // namespace

Plan plan_of(const std::string& name) {
  return read_plan(name, experiment_text(name), "experiments/" + name + ".toml");
}

void claim_folder(const std::filesystem::path& folder, const Plan& plan, double scale) {
  const std::string text = fmt::format("{}{}\n{}", kScale, scale, plan.text);
  const std::filesystem::path file = settings_file(folder);
  if (!std::filesystem::exists(file)) {
    std::filesystem::create_directories(folder);
    write_text(file, text);
    return;
  }
  const std::string found = read_text(file);
  if (found == text) return;
  const auto other = scale_of(found);
  throw InputError(
      file.string(),
      other && *other != scale
          ? fmt::format("this folder holds results of scale {}, asked for is {}: choose another "
                        "--output",
                        *other, scale)
          : "this folder holds results of other settings of this experiment: choose another "
            "--output");
}

std::optional<double> scale_of_folder(const std::filesystem::path& folder) {
  return scale_of(read_text(settings_file(folder)));
}

}  // namespace jeffreys::experiment
