#include <fmt/format.h>

#include "cli/load.h"
#include "jeffreys/model/zuko_archive.h"

namespace jeffreys::cli {
namespace {

struct ZukoArguments {
  std::string input;
  std::string output;
  std::string from;
};

void run_import(const ZukoArguments& a, const Globals& globals) {
  SplineFlow<float> flow = import_zuko<float>(a.input);
  const Schema schema = Schema::identity(static_cast<std::size_t>(flow.features()),
                                         static_cast<std::size_t>(flow.context_features()));
  TabularDensity<float>(schema, std::move(flow)).save(a.output);
  say(globals,
      fmt::format(
          "{}: columns {}{}", a.output, schema.feature_names().front(),
          schema.features() > 1 ? fmt::format(" to {}", schema.feature_names().back()) : ""));
}

void run_export(const ZukoArguments& a, const Globals& globals) {
  const auto density = TabularDensity<float>::load(a.input);
  const From from = chosen_from(a.from, density);
  try {
    export_zuko(density.model(from), a.output);
  } catch (const std::invalid_argument& error) {
    throw UsageError(
        fmt::format("--from {}: {}", from == From::main ? "main" : "proxy", error.what()));
  }
  if (globals.json) print_json({{"output", a.output}});
  say(globals,
      fmt::format("{}: the {} flow, on standardised columns (`jeffreys inspect` shows means "
                  "and scales with --json)",
                  a.output, from == From::main ? "main" : "proxy"));
}

}  // namespace

void add_zuko(CLI::App& app, Globals& globals) {
  for (const bool import : {true, false}) {
    auto a = std::make_shared<ZukoArguments>();
    CLI::App* group = app.add_subcommand(
        import ? "import" : "export",
        import ? "Make a model of weights from elsewhere" : "Weights for elsewhere");
    group->require_subcommand(1);
    const char* example = import ? "Example:\n  jeffreys import zuko weights.npz -o flow.model"
                                 : "Example:\n  jeffreys export zuko flow.model -o weights.npz";
    group->footer(example);
    CLI::App* command =
        group->add_subcommand("zuko", import ? "From a zuko.flows.NSF state dict (NPZ)"
                                             : "To a zuko.flows.NSF state dict (NPZ)");
    command->add_option("input", a->input, import ? "NPZ file" : "Model file")->required();
    command->add_option("-o,--output", a->output, import ? "Model file" : "NPZ file")->required();
    if (!import) add_from(*command, a->from);
    command->footer(example);
    command->callback(
        [a, import, &globals] { import ? run_import(*a, globals) : run_export(*a, globals); });
  }
}

}  // namespace jeffreys::cli
