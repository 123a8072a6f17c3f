#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <stdexcept>

#include "fit/compare_method.h"
#include "jeffreys/base/assignment.h"

namespace jeffreys {
namespace {

constexpr const char* kForm = "[NAME=]METHOD[+KEY=VALUE...], for example ten=mle+members=10";

struct Kind {
  const char* name;
  const char* description;
  SettingList settings;
  std::optional<SimpleModel> simple = {};
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kList = {
      {"default", "`jeffreys fit` as it is", {}},
      {"dual", "the dual method with a flow as proxy", {{"method", "dual"}, {"proxy", "flow"}}},
      {"dual-energy",
       "the dual method with an energy model as proxy",
       {{"method", "dual"}, {"proxy", "energy"}}},
      {"mle", "maximum likelihood", {{"method", "mle"}}},
      {"mle-noise", "maximum likelihood with noise", {{"method", "mle-noise"}}},
      {"gaussian", "a Gaussian with shrunk correlations", {}, SimpleModel::gaussian},
      {"mixture", "a mixture of Gaussians, cross-validated", {}, SimpleModel::mixture},
      {"kde", "a kernel density, cross-validated", {}, SimpleModel::kernel}};
  return kList;
}

const Kind& kind_of(const std::string& name) {
  std::vector<std::string> known;
  for (const Kind& kind : kinds()) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  throw std::invalid_argument(fmt::format(
      "methods: there is no method '{}'; known: {}; settings are added as in mle+members=10", name,
      fmt::join(known, ", ")));
}

// Where the text goes on with another setting: a plus before a key. That of 1e+5 is none.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool letter =
        i + 1 < text.size() && std::isalpha(static_cast<unsigned char>(text[i + 1]));
    if (text[i] == '+' && letter) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

void check_name(const std::string& name, const std::string& text) {
  const bool good = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) &&
                    name.find_first_of("/\\\n\r") == std::string::npos;
  if (good) return;
  throw std::invalid_argument(fmt::format(
      "methods: a name begins with a letter and has no '/', for it names a folder; got '{}'",
      text));
}

}  // namespace

std::string CompareMethod::definition() const {
  std::string text = kind;
  for (const auto& [key, value] : settings) text += fmt::format("+{}={}", key, value);
  return text;
}

std::vector<CompareKind> compare_kinds() {
  std::vector<CompareKind> list;
  for (const Kind& kind : kinds()) list.push_back({kind.name, kind.description});
  return list;
}

CompareMethod parse_compare_method(const std::string& text) {
  const std::vector<std::string> parts = parts_of(text);
  CompareMethod method;
  const std::size_t equals = parts.front().find('=');
  method.kind = equals == std::string::npos ? parts.front() : parts.front().substr(equals + 1);
  const Kind& kind = kind_of(method.kind);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    method.settings.push_back(split_assignment(parts[i], "methods", kForm));
  }
  if (kind.simple && !method.settings.empty()) {
    throw std::invalid_argument(
        fmt::format("methods: {} has no settings; got '{}'", method.kind, text));
  }
  method.name = equals == std::string::npos ? method.definition() : parts.front().substr(0, equals);
  check_name(method.name, text);
  return method;
}

std::vector<CompareMethod> parse_compare_methods(const std::string& text) {
  std::vector<std::string> texts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1]));
    if (text[i] == ',' && !digit) {
      texts.emplace_back();
    } else {
      texts.back() += text[i];
    }
  }
  std::vector<CompareMethod> methods;
  for (const std::string& each : texts) methods.push_back(parse_compare_method(each));
  return methods;
}

std::vector<CompareMethod> all_compare_methods() {
  std::vector<CompareMethod> methods;
  for (const Kind& kind : kinds()) methods.push_back({kind.name, kind.name, {}});
  return methods;
}

std::optional<SimpleModel> simple_model(const CompareMethod& method) {
  return kind_of(method.kind).simple;
}

ChosenSettings settings_of(const CompareMethod& method, const CompareOptions& options,
                           std::uint64_t seed) {
  ChosenSettings chosen;
  const auto add = [&](const SettingList& settings, const std::string& origin) {
    for (const auto& [key, value] : settings) {
      if (key == "preset") {
        chosen.choose_preset(value);
      } else {
        chosen.add(key, value, origin);
      }
    }
  };
  add(options.settings, "--set");
  add(kind_of(method.kind).settings, method.kind);
  if (options.time_limit > 0) {
    chosen.add("time_limit", fmt::format("{}", options.time_limit), "--time-limit");
  }
  add(method.settings, fmt::format("methods: {}", method.name));
  chosen.add("seed", fmt::format("{}", seed), "seed");
  return chosen;
}

void CompareOptions::validate() const {
  const auto require = [](bool good, const std::string& problem) {
    if (!good) throw std::invalid_argument(problem);
  };
  require(!methods.empty(), "methods: expected at least one, got none");
  std::set<std::string> names;
  for (const CompareMethod& method : methods) {
    require(names.insert(method.name).second,
            fmt::format("methods: '{}' is there twice; give one of them a name, as in again={}",
                        method.name, method.definition()));
    // A setting that does not exist should not wait for the first job.
    FitOptions fit;
    fit.schema = columns;
    const ChosenSettings chosen = settings_of(method, *this, seed);
    chosen.apply_to(fit);
    require(!chosen.has("missing") || fit.schema.missing != Missing::keep,
            "missing: methods are compared on complete rows; expected drop or error, got keep");
  }
  require(columns.weights.empty(),
          fmt::format("weights: in a comparison all rows count the same; leave column {} out of it",
                      columns.weights));
  require(splits >= 1, "splits: expected at least 1, got 0");
  require(seeds >= 1, "seeds: expected at least 1, got 0");
  require(test > 0 && test < 1, fmt::format("test: expected 0 < share < 1, got {}", test));
  require(most_tests >= 1, "test rows: expected at least 1, got 0");
  require(time_limit >= 0, fmt::format("time limit: expected seconds, got {}", time_limit));
  require(jobs >= 1, "jobs: expected at least 1, got 0");
  require(threads >= 1, "threads: expected at least 1, got 0");
  require(threads == 1 || jobs == 1,
          "threads: expected 1 where several jobs run at a time, because their processor time "
          "could not be told apart; or set jobs to 1");
  shard.validate();
}

}  // namespace jeffreys
