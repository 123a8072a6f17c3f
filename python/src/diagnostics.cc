// Diagnostics of anybody's samples.
#include "python/src/diagnostics.h"

namespace jeffreys::python {
namespace {

using Cube = py::array_t<double, py::array::c_style | py::array::forcecast>;

// samples [simulations, samples, parameters] of the posteriors of true parameters [simulations,
// parameters]. Log densities of both, [simulations, samples] and [simulations], or neither: ranks
// by density are then by chance.
PosteriorRanks rank(const Matrix<double>& parameters, const Cube& samples,
                    const std::optional<Matrix<double>>& sample_log_prob,
                    const std::optional<Vector<double>>& log_prob, std::uint64_t seed) {
  if (samples.ndim() != 3 || samples.shape(0) != parameters.rows() ||
      samples.shape(2) != parameters.cols()) {
    throw std::invalid_argument(
        "samples: expected [simulations, samples, parameters] for parameters [simulations, "
        "parameters]");
  }
  const Eigen::Index each = samples.shape(1);
  if (sample_log_prob &&
      (sample_log_prob->rows() != parameters.rows() || sample_log_prob->cols() != each ||
       !log_prob || log_prob->size() != parameters.rows())) {
    throw std::invalid_argument(
        "log densities: expected those of the samples [simulations, samples] and of the true "
        "parameters [simulations]");
  }
  const auto draw = [&](Eigen::Index i) {
    PosteriorDraws draws;
    draws.samples =
        Eigen::Map<const Matrix<double>>(samples.data(i, 0, 0), each, parameters.cols());
    draws.sample_log_prob = sample_log_prob ? Vector<double>(sample_log_prob->row(i).transpose())
                                            : Vector<double>(Vector<double>::Zero(each));
    draws.parameter_log_prob = log_prob ? (*log_prob)(i) : 0;
    return draws;
  };
  return without_gil([&] { return rank_posteriors(parameters, draw, seed); });
}

PosteriorRanks read_ranks(const py::dict& ranks) {
  return {.samples = ranks["samples"].cast<int>(),
          .parameter = ranks["parameter"].cast<Matrix<int>>(),
          .density = ranks["density"].cast<std::vector<int>>(),
          .distance = ranks["distance"].cast<std::vector<int>>(),
          .seed = ranks["seed"].cast<std::uint64_t>()};
}

py::dict test_dict(const UniformityTest& test) {
  std::vector<double> count;
  std::vector<double> expected;
  std::vector<double> lower;
  std::vector<double> upper;
  for (const RankBin& bin : test.bins) {
    count.push_back(bin.count);
    expected.push_back(bin.expected);
    lower.push_back(bin.lower);
    upper.push_back(bin.upper);
  }
  py::dict result;
  result["count"] = to_array(std::move(count));
  result["expected"] = to_array(std::move(expected));
  result["lower"] = to_array(std::move(lower));
  result["upper"] = to_array(std::move(upper));
  result["p_value"] = test.p_value;
  return result;
}

}  // namespace

py::dict to_dict(const PosteriorRanks& ranks) {
  py::dict result;
  result["samples"] = ranks.samples;
  result["parameter"] = ranks.parameter;
  result["density"] = to_array(ranks.density);
  result["distance"] = to_array(ranks.distance);
  result["seed"] = ranks.seed;
  return result;
}

py::dict to_dict(const RankCalibration& calibration) {
  py::dict parameters;
  for (const RankCalibration::Parameter& parameter : calibration.parameters) {
    py::dict one = test_dict(parameter.test);
    one["p_value"] = parameter.p_value;
    one["calibration"] = to_string(parameter.calibration);
    parameters[py::str(parameter.name)] = one;
  }
  py::dict result;
  result["parameters"] = parameters;
  result["p_value"] = calibration.p_value;
  result["verdict"] = calibration.verdict;
  return result;
}

py::dict to_dict(const ExpectedCoverage& coverage) {
  py::list levels;
  for (const ExpectedCoverage::Level& level : coverage.levels) {
    py::dict one;
    one["credibility"] = level.credibility;
    one["coverage"] = level.coverage;
    one["standard_error"] = level.standard_error;
    levels.append(one);
  }
  py::dict result;
  result["credibility"] = to_array(coverage.credibility);
  result["coverage"] = to_array(coverage.coverage);
  result["band"] = coverage.band;
  result["levels"] = levels;
  result["p_value"] = coverage.p_value;
  result["calibration"] = to_string(coverage.calibration);
  result["verdict"] = coverage.verdict;
  return result;
}

py::dict to_dict(const TwoSampleResult& result) {
  py::dict found;
  found["accuracy"] = result.accuracy;
  found["standard_error"] = result.standard_error;
  found["definition"] = result.definition;
  return found;
}

py::dict to_dict(const NeuralTwoSampleResult& result) {
  py::dict found;
  found["accuracy"] = result.accuracy;
  found["standard_error"] = result.standard_error;
  found["definition"] = result.definition;
  return found;
}

void bind_diagnostics(py::module_& module) {
  module.def("rank", [](const Matrix<double>& parameters, const Cube& samples,
                        const std::optional<Matrix<double>>& sample_log_prob,
                        const std::optional<Vector<double>>& log_prob, std::uint64_t seed) {
    return to_dict(rank(parameters, samples, sample_log_prob, log_prob, seed));
  });
  module.def("rank_calibration",
             [](const py::dict& ranks, const std::vector<std::string>& names, double significance) {
               return to_dict(rank_calibration(read_ranks(ranks), names, significance));
             });
  module.def("highest_density_coverage", [](const py::dict& ranks, double significance) {
    return to_dict(highest_density_coverage(read_ranks(ranks), significance));
  });
  module.def("reference_point_coverage", [](const py::dict& ranks, double significance) {
    return to_dict(reference_point_coverage(read_ranks(ranks), significance));
  });
  module.def("c2st_trees",
             [](const Matrix<double>& exact, const Matrix<double>& model, std::uint64_t seed) {
               return to_dict(without_gil(
                   [&] { return classifier_two_sample_test(exact, model, {.seed = seed}); }));
             });
  module.def("c2st_network", [](const Matrix<double>& exact, const Matrix<double>& model,
                                std::uint64_t seed, std::size_t folds) {
    return to_dict(without_gil(
        [&] { return neural_two_sample_test(exact, model, {.folds = folds, .seed = seed}); }));
  });
}

}  // namespace jeffreys::python
