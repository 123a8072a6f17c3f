// Model files that are damaged, foreign or of another version, for every command that reads one.
#include "cli/program.h"
#include "cli/tables.h"
#include "jeffreys/storage/safetensors.h"

namespace jeffreys::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class BadModel : public ProgramTest {
 protected:
  BadModel() {
    file("t.csv", two_columns());
    fit("t.csv", "m");
  }

  static std::vector<Arguments> commands(const std::string& model) {
    return {{"sample", model, "-n", "3", "-o", "s.csv"},
            {"log_prob", model, "t.csv", "-o", "l.csv"},
            {"evaluate", model, "t.csv"},
            {"inspect", model},
            {"plot", model, "-o", "p.svg"},
            {"export", "zuko", model, "-o", "z.npz"}};
  }

  // All commands give the same message.
  std::string refused(const std::string& model) const {
    std::string message;
    for (const Arguments& command : commands(model)) {
      message = refusal(kBadInput, command);
      EXPECT_THAT(message, HasSubstr("jeffreys: " + model + ": "));
    }
    return message;
  }
};

TEST_F(BadModel, IsNoFile) {
  EXPECT_THAT(refused("none"), HasSubstr("check the name"));
  std::filesystem::create_directory(path("folder"));
  EXPECT_THAT(refused("folder"), HasSubstr("directory"));
}

TEST_F(BadModel, IsNoModel) {
  file("empty", "");
  refused("empty");
  refused("t.csv");
  file("zeros", std::string(5000, '\0'));
  refused("zeros");
  storage::write_safetensors(path("tensors"), {.metadata = {}, .tensors = {}});
  refused("tensors");
}

TEST_F(BadModel, IsCutShort) {
  const std::string whole = bytes("m");
  for (const std::size_t size :
       {std::size_t{4}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
    file("cut", whole.substr(0, size));
    EXPECT_THAT(refusal(kBadInput, {"sample", "cut", "-n", "2"}),
                AllOf(HasSubstr("cut: "), HasSubstr("again")));
  }
  file("cut", whole + "x");
  refused("cut");
}

TEST_F(BadModel, IsOfAnotherVersion) {
  storage::TensorFile model = storage::read_safetensors(path("m"));
  std::size_t changed = 0;
  for (auto& [key, value] : model.metadata) {
    if (key.find("version") == std::string::npos) continue;
    value = "99";
    ++changed;
  }
  ASSERT_GE(changed, 1u);
  storage::write_safetensors(path("new"), model);
  EXPECT_THAT(refused("new"), AllOf(HasSubstr("version"), HasSubstr("99")));
}

TEST_F(BadModel, HasARecordThatIsNone) {
  for (const char* record :
       {"", "{", "7", R"({"table": 5})", R"({"result": 5})", R"({"result": {"verdict": []}})",
        R"({"settings": 5})", R"({"settings": {"seed": {"default": false, "value": 5}}})"}) {
    storage::TensorFile model = storage::read_safetensors(path("m"));
    model.metadata.at("record") = record;
    storage::write_safetensors(path("r"), model);
    for (const Arguments& command :
         {Arguments{"inspect", "r"}, Arguments{"inspect", "r", "--json"}}) {
      const Outcome outcome = run(command);
      EXPECT_THAT(outcome.exit_code, ::testing::AnyOf(kDone, kBadInput))
          << record << ::testing::PrintToString(outcome);
    }
  }
}

TEST_F(BadModel, WithAnyByteOfItsHeaderChangedDoesNotCrash) {
  const std::string whole = bytes("m");
  Draws draws(3);
  for (int trial = 0; trial < 150; ++trial) {
    std::string damaged = whole;
    const auto place = static_cast<std::size_t>(draws.uniform() * 8000);
    damaged.at(place) = static_cast<char>(256 * draws.uniform());
    file("d", damaged);
    const Outcome outcome = run({"sample", "d", "-n", "2"});
    EXPECT_THAT(outcome.exit_code, ::testing::AnyOf(kDone, kBadInput))
        << "byte " << place << ": " << ::testing::PrintToString(outcome);
  }
}

}  // namespace
}  // namespace jeffreys::testing
