// Flows to and from Zuko: what goes out comes back, bit for bit, and what is no NSF is refused.
#include "jeffreys/model/zuko_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/scratch_folder.h"

namespace jeffreys {
namespace {

using storage::Array;
using storage::Arrays;
using testing::Golden;
using testing::golden_path;
using ::testing::HasSubstr;
using testing::problem_of;
using testing::ScratchTest;

class ZukoArchive : public ScratchTest {
 protected:
  template <typename Change>
  std::string problem_after(Change change) {
    Arrays arrays = storage::read_npz(golden_path("nsf_5d_random.npz"));
    change(arrays);
    storage::write_npz(path("w.npz"), arrays);
    return problem_of(path("w.npz"), [](const auto& p) { import_zuko<float>(p); });
  }
};

TEST_F(ZukoArchive, ExportGivesBackWhatWasImported) {
  for (const char* name : {"nsf_2d.npz", "nsf_30d.npz", "nsf_cond.npz", "nsf_1d.npz",
                           "nsf_1d_cond.npz", "nsf_5d_random.npz"}) {
    export_zuko(import_zuko<float>(golden_path(name)), path("out.npz"));
    const Arrays written = storage::read_npz(path("out.npz"));
    const Golden golden(name);
    std::size_t parameters = 0;
    for (const auto& [key, array] : golden.arrays()) {
      if (!key.starts_with("param.")) continue;
      ++parameters;
      ASSERT_TRUE(written.contains(key)) << name << " " << key;
      EXPECT_EQ(written.at(key).values<double>(), array.values<double>()) << name << " " << key;
      EXPECT_EQ(written.at(key).shape, array.shape) << name << " " << key;
    }
    EXPECT_EQ(written.size(), parameters) << name;
  }
}

TEST_F(ZukoArchive, OwnFlowsComeBack) {
  const SplineFlow<double> flow({.features = 4,
                                 .context_features = 1,
                                 .transforms = 2,
                                 .bins = 3,
                                 .hidden = {9},
                                 .order = FeatureOrder::random,
                                 .seed = 5});
  export_zuko(flow, path("w.npz"));
  const SplineFlow<double> back = import_zuko<double>(path("w.npz"));
  EXPECT_TRUE(std::equal(flow.parameters().begin(), flow.parameters().end(),
                         back.parameters().begin(), back.parameters().end()));
  EXPECT_EQ(flow.options().orders, back.options().orders);
}

TEST_F(ZukoArchive, PrefixMayBeLeftOut) {
  Arrays bare;
  for (const auto& [key, array] : storage::read_npz(golden_path("nsf_cond.npz"))) {
    if (key.starts_with("param.")) bare[key.substr(6)] = array;
  }
  storage::write_npz(path("w.npz"), bare);
  const auto a = import_zuko<float>(path("w.npz"));
  const auto b = import_zuko<float>(golden_path("nsf_cond.npz"));
  EXPECT_TRUE(std::equal(a.parameters().begin(), a.parameters().end(), b.parameters().begin()));
}

TEST_F(ZukoArchive, SaysWhatIsWrong) {
  const std::string first = "param.transform.transforms.0.";
  EXPECT_THAT(problem_after([](Arrays& a) { a.clear(); }), HasSubstr("zuko.flows.NSF"));
  EXPECT_THAT(problem_after([&](Arrays& a) { a.erase(first + "hyper.2.bias"); }),
              HasSubstr("transform.transforms.0.hyper.2.bias"));
  EXPECT_THAT(problem_after([&](Arrays& a) {
                a.at(first + "hyper.2.bias").shape = {4, 4};
              }),
              HasSubstr("expected shape (16), got (4, 4)"));
  EXPECT_THAT(problem_after([&](Arrays& a) {
                a[first + "order"] =
                    Array::from<std::int64_t>({5}, std::vector<std::int64_t>{0, 0, 1, 1, 2});
              }),
              HasSubstr("permutations"));
  EXPECT_THAT(
      problem_after([&](Arrays& a) { a.at(first + "hyper.0.mask").bytes[0] ^= std::byte{1}; }),
      HasSubstr("hyper.0.mask"));
  EXPECT_THAT(problem_after([&](Arrays& a) {
                a["param.base.scale"] = Array::from<float>({5}, std::vector<float>(5, 2.0F));
              }),
              HasSubstr("base.scale"));
  EXPECT_THAT(problem_after([&](Arrays& a) {
                a[first + "hyper.6.weight"] = Array::from<float>({7, 20}, std::vector<float>(140));
              }),
              HasSubstr("7 outputs for 5 features"));
  EXPECT_THAT(problem_after([&](Arrays& a) { a.at(first + "hyper.0.weight").shape = {120}; }),
              HasSubstr("expected 2 dimensions"));
}

}  // namespace
}  // namespace jeffreys
