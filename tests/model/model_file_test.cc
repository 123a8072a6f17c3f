// Models on disk: what is read is what was written, and nothing else is accepted.
#include "jeffreys/model/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "jeffreys/base/input_error.h"
#include "jeffreys/model/energy_model.h"
#include "jeffreys/model/gaussian_mixture.h"
#include "jeffreys/storage/safetensors.h"
#include "support/damaged_files.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using storage::Array;
using storage::TensorFile;
using testing::bytes_of;
using testing::of_earlier_version;
using testing::problem_of;
using testing::ScratchTest;
using testing::with_flipped_bit;
using testing::without_checksum;

class ModelFile : public ScratchTest {
 protected:
  // Saves, changes what is in the file, and returns the problem that loading finds.
  template <typename Change>
  std::string problem_after(Change change) {
    save_model(SplineFlow<float>({.features = 3, .transforms = 2, .bins = 4, .hidden = {5, 6}}),
               path("m"));
    TensorFile file = storage::read_safetensors(path("m"));
    change(file);
    storage::write_safetensors(path("m"), file);
    return problem_of(path("m"), [](const auto& p) { load_model<float>(p); });
  }

  [[nodiscard]] std::string small_model() const {
    save_model(SplineFlow<float>({.features = 2, .transforms = 1, .bins = 2, .hidden = {3}}),
               path("m"));
    return bytes_of(path("m"));
  }

  [[nodiscard]] bool loads(const std::string& bytes) const {
    try {
      load_model<float>(file("d", bytes));
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  static void set_architecture(TensorFile& file, const std::string& from, const std::string& to) {
    std::string& text = file.metadata.at("jeffreys.architecture");
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, from.size(), to);
  }
};

template <typename Model>
void expect_same(const Model& a, const Model& b) {
  EXPECT_TRUE(std::equal(a.parameters().begin(), a.parameters().end(), b.parameters().begin(),
                         b.parameters().end()));
}

TEST_F(ModelFile, FlowKeepsEveryBit) {
  for (const Eigen::Index features : {1, 2, 5}) {
    for (const Eigen::Index context : {0, 2}) {
      const SplineFlow<double> flow({.features = features,
                                     .context_features = context,
                                     .transforms = 3,
                                     .bins = 5,
                                     .hidden = {7, 8, 9},
                                     .order = FeatureOrder::random,
                                     .seed = 3});
      save_model(flow, path("m"), {{"note", "a \"quoted\" note"}});
      const LoadedModel<double> loaded = load_model<double>(path("m"));
      const auto& copy = dynamic_cast<const SplineFlow<double>&>(*loaded.model);
      expect_same(flow, copy);
      EXPECT_EQ(flow.options().orders, copy.options().orders);
      EXPECT_EQ(flow.options().hidden, copy.options().hidden);
      EXPECT_EQ(loaded.metadata, (ModelMetadata{{"note", "a \"quoted\" note"}}));
      const Matrix<double> x = Matrix<double>::Random(70, features);
      const Matrix<double> c = Matrix<double>::Random(70, context);
      EXPECT_EQ(flow.log_prob(x, c), copy.log_prob(x, c));
    }
  }
}

TEST_F(ModelFile, EnergiesKeepEveryBitAndTheirSpectralVectors) {
  ResidualEnergy<float> residual({.features = 3, .hidden = 16, .blocks = 2, .temperature = 0.25});
  residual.power_iterate(3);
  save_model(residual, path("r"));
  const LoadedModel<float> r = load_model<float>(path("r"));
  const auto& copy = dynamic_cast<const ResidualEnergy<float>&>(*r.model);
  const Matrix<float> x = Matrix<float>::Random(65, 3);
  EXPECT_EQ(residual.log_unnormalized(x), copy.log_unnormalized(x));
  EXPECT_EQ(copy.temperature(), 0.25);

  const FilmEnergy<float> film(
      {.features = 2, .context_features = 3, .hidden = 8, .film_layers = 3});
  save_model(film, path("f"));
  const LoadedModel<float> f = load_model<float>(path("f"));
  const Matrix<float> y = Matrix<float>::Random(65, 2);
  EXPECT_EQ(film.log_unnormalized(y, x),
            dynamic_cast<const FilmEnergy<float>&>(*f.model).log_unnormalized(y, x));

  const FilmEnergy<float> bounded(
      {.features = 2, .context_features = 3, .hidden = 8, .bounded = true, .confined = true});
  save_model(bounded, path("b"));
  const LoadedModel<float> b = load_model<float>(path("b"));
  EXPECT_TRUE(dynamic_cast<const FilmEnergy<float>&>(*b.model).options().bounded);
  EXPECT_TRUE(dynamic_cast<const FilmEnergy<float>&>(*b.model).options().confined);
  EXPECT_EQ(bounded.log_unnormalized(y, x),
            dynamic_cast<const FilmEnergy<float>&>(*b.model).log_unnormalized(y, x));
}

// Files of earlier versions do not say whether a model is bounded or confined: none was.
TEST_F(ModelFile, ReadsConditionalEnergiesOfEarlierVersions) {
  const FilmEnergy<float> film({.features = 2, .context_features = 3, .hidden = 8});
  save_model(film, path("f"));
  storage::TensorFile file = storage::read_safetensors(path("f"));
  for (auto& [key, text] : file.metadata) {
    for (const std::string field : {"\"bounded\":false,", "\"confined\":false,"}) {
      const std::size_t place = text.find(field);
      if (place != std::string::npos) text.erase(place, field.size());
    }
  }
  storage::write_safetensors(path("old"), file);
  const LoadedModel<float> old = load_model<float>(path("old"));
  const Matrix<float> x = Matrix<float>::Random(65, 2);
  const Matrix<float> c = Matrix<float>::Random(65, 3);
  EXPECT_FALSE(dynamic_cast<const FilmEnergy<float>&>(*old.model).options().bounded);
  EXPECT_EQ(film.log_unnormalized(x, c),
            dynamic_cast<const FilmEnergy<float>&>(*old.model).log_unnormalized(x, c));
}

TEST_F(ModelFile, FloatAndDoubleReadEachOther) {
  const SplineFlow<float> flow({.features = 2, .transforms = 2});
  save_model(flow, path("m"));
  const SplineFlow<double> wide = load_flow<double>(path("m"));
  for (std::size_t i = 0; i < flow.parameters().size(); ++i) {
    ASSERT_EQ(static_cast<double>(flow.parameters()[i]), wide.parameters()[i]);
  }
  save_model(wide, path("w"));
  expect_same(load_flow<float>(path("w")), flow);
}

TEST_F(ModelFile, SameModelSameBytes) {
  const SplineFlow<float> flow({.features = 4, .transforms = 2});
  save_model(flow, path("a"), {{"k", "v"}});
  save_model(flow, path("b"), {{"k", "v"}});
  EXPECT_EQ(bytes_of(path("a")), bytes_of(path("b")));
}

TEST_F(ModelFile, RefusesReservedMetadata) {
  const SplineFlow<float> flow({.features = 2, .transforms = 1});
  EXPECT_THROW(save_model(flow, path("m"), {{"jeffreys.x", "1"}}), std::invalid_argument);
}

TEST_F(ModelFile, SaysWhatIsWrong) {
  EXPECT_NE(problem_of(path("missing"), [](const auto& p) { load_model<float>(p); }), "");
  storage::write_safetensors(path("other"), {});
  EXPECT_THAT(problem_of(path("other"), [](const auto& p) { load_model<float>(p); }),
              ::testing::HasSubstr("not a model that jeffreys saved"));
  EXPECT_THAT(problem_after([](TensorFile& f) { f.metadata["jeffreys.format_version"] = "99"; }),
              ::testing::HasSubstr("version 99"));
  EXPECT_THAT(problem_after([](TensorFile& f) { f.metadata["jeffreys.architecture"] = "{"; }),
              ::testing::HasSubstr("jeffreys.architecture"));
  EXPECT_THAT(problem_after([](TensorFile& f) { f.metadata["jeffreys.architecture"] = "[1]"; }),
              ::testing::HasSubstr("jeffreys.architecture"));
  EXPECT_THAT(problem_after([](TensorFile& f) { f.tensors.erase(f.tensors.begin()); }),
              ::testing::HasSubstr("missing"));
  EXPECT_THAT(problem_after([](TensorFile& f) {
                f.tensors["extra"] = Array::from<float>({1}, std::vector<float>{1});
              }),
              ::testing::HasSubstr("'extra'"));
  EXPECT_THAT(problem_after([](TensorFile& f) {
                f.tensors.begin()->second =
                    Array::from<std::int64_t>({1}, std::vector<std::int64_t>{1});
              }),
              ::testing::HasSubstr("expected f32 or f64, got i64"));
  EXPECT_THAT(problem_after([](TensorFile& f) {
                f.tensors.begin()->second.shape = {f.tensors.begin()->second.size(), 1};
              }),
              ::testing::HasSubstr("expected shape"));
}

TEST_F(ModelFile, RefusesHostileArchitectures) {
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"\"features\":3", "\"features\":0"},
      {"\"features\":3", "\"features\":-3"},
      {"\"features\":3", "\"features\":1000000"},
      {"\"features\":3", "\"features\":99999999999999999999"},
      {"\"features\":3", "\"features\":3.5"},
      {"\"features\":3", "\"features\":\"3\""},
      {"\"features\":3", "\"feature\":3"},
      {"\"bins\":4", "\"bins\":0"},
      {"\"bins\":4", "\"bins\":1048576"},
      {"\"transforms\":2", "\"transforms\":0"},
      {"\"transforms\":2", "\"transforms\":1000000"},
      {"\"hidden\":[5,6]", "\"hidden\":[5,1048576]"},
      {"\"hidden\":[5,6]", "\"hidden\":[1048576,1048576]"},
      {"\"hidden\":[5,6]", "\"hidden\":[0]"},
      {"\"hidden\":[5,6]", "\"hidden\":5"},
      {"\"context_features\":0", "\"context_features\":1048576"},
      {"\"orders\":[[0,1,2]", "\"orders\":[[0,1,1]"},
      {"\"orders\":[[0,1,2]", "\"orders\":[[0,1]"},
      {"\"orders\":[[0,1,2]", "\"orders\":[0"},
      {"\"orders\":[[0,1,2]", "\"orders\":[[0,1,9223372036854775807]"},
      {"\"affine\":false", "\"affine\":true"},
      {"\"affine\":false", "\"affine\":0"},
      {"\"student_t\":0.0", "\"student_t\":0.5"},
      {"\"student_t\":0.0", "\"student_t\":\"3\""},
      {"\"bins\":", "\"of_a_newer_program\":1,\"bins\":"},
      {"\"bins\":",
       "\"deep\":" + std::string(200000, '[') + std::string(200000, ']') + ",\"bins\":"},
      {"\"model\":\"spline_flow\"", "\"model\":\"pickle\""},
      {"\"model\":\"spline_flow\"", "\"model\":\"residual_energy\""},
      {"\"model\":\"spline_flow\"", "\"model\":7"},
  };
  for (const auto& [from, to] : changes) {
    EXPECT_NE(problem_after([&](TensorFile& f) { set_architecture(f, from, to); }), "") << to;
  }
}

// A file is refused by its number of parameters before memory is taken for them.
TEST_F(ModelFile, LargeArchitecturesHaveManyParameters) {
  const Eigen::Index large = 1 << 20;
  EXPECT_GT((SplineFlowOptions{.features = large, .bins = 1, .hidden = {1}, .affine = true})
                .least_parameters(),
            5e11);
  EXPECT_GT(
      (FilmEnergyOptions{.features = 1, .context_features = large, .hidden = 1, .blocks = 1000})
          .least_parameters(),
      2e9);
  EXPECT_GT(GaussianMixtureOptions{.features = large}.least_parameters(), 4e12);
}

TEST_F(ModelFile, OtherArchitectureIsNotAFlow) {
  save_model(ResidualEnergy<float>({.features = 2, .hidden = 8}), path("m"));
  EXPECT_THAT(problem_of(path("m"), [](const auto& p) { load_flow<float>(p); }),
              ::testing::HasSubstr("residual energy"));
}

TEST_F(ModelFile, NoCutGoesUnseen) {
  const std::string whole = small_model();
  for (std::size_t length = 0; length < whole.size(); length += length < 64 ? 1 : 7) {
    EXPECT_FALSE(loads(whole.substr(0, length))) << "cut at " << length;
  }
  EXPECT_FALSE(loads(whole + "x"));
}

// Every third bit: each byte has one or more, and all eight places take their turn.
TEST_F(ModelFile, NoFlippedBitGoesUnseen) {
  const std::string whole = small_model();
  ASSERT_TRUE(loads(whole));
  for (std::size_t bit = 0; bit < 8 * whole.size(); bit += 3) {
    EXPECT_FALSE(loads(with_flipped_bit(whole, bit))) << bit;
  }
}

TEST_F(ModelFile, SaysThatItIsDamagedAndWhatToDo) {
  const std::string whole = small_model();
  const auto problem = [&](const std::string& bytes) {
    return problem_of(file("d", bytes), [](const auto& p) { load_model<float>(p); });
  };
  EXPECT_EQ(problem(with_flipped_bit(whole, 8 * whole.size() - 1)),
            "is damaged: its checksum does not match; copy it again, or delete it and fit again");
  EXPECT_EQ(problem(without_checksum(whole)),
            "is damaged: its checksum is missing; copy it again, or delete it and fit again");
}

// Nothing else can be told of files without a checksum: a flipped bit in a weight is a weight.
TEST_F(ModelFile, DamagedFilesOfEarlierVersionsNeverCrash) {
  const std::string whole = of_earlier_version(small_model(), "jeffreys.format_version", "2");
  ASSERT_TRUE(loads(whole));
  std::mt19937 random(1);
  std::size_t refused = 0;
  for (int i = 0; i < 3000; ++i) {
    refused += loads(with_flipped_bit(whole, random() % (8 * whole.size()))) ? 0 : 1;
  }
  EXPECT_GT(refused, 1000U);
}

TEST_F(ModelFile, EarlierVersionsScoreAsBefore) {
  const SplineFlow<float> flow({.features = 3, .transforms = 2, .seed = 4});
  save_model(flow, path("m"), {{"note", "old"}});
  const Matrix<float> x = Matrix<float>::Random(70, 3);
  for (const char* version : {"1", "2"}) {
    const auto old =
        file("old", of_earlier_version(bytes_of(path("m")), "jeffreys.format_version", version));
    EXPECT_EQ(load_flow<float>(old).log_prob(x), flow.log_prob(x)) << version;
    EXPECT_EQ(load_model<float>(old).metadata, (ModelMetadata{{"note", "old"}})) << version;
  }
}

}  // namespace
}  // namespace jeffreys
