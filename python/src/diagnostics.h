// What diagnostics found, as dicts.
#pragma once

#include "jeffreys/evaluate/expected_coverage.h"
#include "jeffreys/evaluate/neural_two_sample_test.h"
#include "jeffreys/evaluate/two_sample_test.h"
#include "python/src/binding.h"

namespace jeffreys::python {

py::dict to_dict(const PosteriorRanks& ranks);
py::dict to_dict(const RankCalibration& calibration);
py::dict to_dict(const ExpectedCoverage& coverage);
py::dict to_dict(const TwoSampleResult& result);
py::dict to_dict(const NeuralTwoSampleResult& result);

}  // namespace jeffreys::python
