// A small simulator, its prior, pairs and a fitted posterior for the tests of `jeffreys sbi`.
#pragma once

#include <algorithm>

#include "cli/program.h"
#include "cli/tables.h"

namespace jeffreys::testing {

inline std::filesystem::path example_simulators() {
  return std::filesystem::path(JEFFREYS_GOLDEN_DIR) / "../../examples/simulators";
}

// Parameters a and b in (-1, 1); outcomes x = a + noise and y = b - a + noise, the noise
// uniform in +-0.2.
class SbiProgramTest : public ProgramTest {
 protected:
  SbiProgramTest() {
    file("prior.toml", prior("a", -1, 1) + prior("b", -1, 1));
    script("simulate.sh",
           R"(exec awk -F, -v seed="$JEFFREYS_SEED" -v first="$JEFFREYS_FIRST_ROW" '{
  srand(((seed % 65536 + 1) * 7919 + (first + NR) * 48271) % 2147483647)
  printf "%.17g,%.17g\n", $1 + 0.4 * rand() - 0.2, $2 - $1 + 0.4 * rand() - 0.2
}')");
    file("pairs.csv", pairs(300, 1));
    file("new_pairs.csv", pairs(60, 2));
  }

  static std::string prior(const std::string& name, double lower, double upper) {
    return "[" + name + "]\ndistribution = \"uniform\"\nlower = " + text_of(lower) +
           "\nupper = " + text_of(upper) + "\n";
  }

  // shift: of the outcomes, as by another simulator.
  static std::string pairs(int rows, unsigned seed, double shift = 0) {
    return lines(
        "a,b,x,y", rows,
        [&](Draws& draws, int) {
          const double a = 2 * draws.uniform() - 1, b = 2 * draws.uniform() - 1;
          const double x = a + shift + 0.4 * draws.uniform() - 0.2;
          const double y = b - a + shift + 0.4 * draws.uniform() - 0.2;
          return text_of(a) + "," + text_of(b) + "," + text_of(x) + "," + text_of(y);
        },
        seed);
  }

  void script(const std::string& name, const std::string& body) const {
    file(name, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
  }

  static Arguments tiny_flow(const std::string& iterations = "50") {
    return {"--set", "iterations=" + iterations, "--set", "flow.hidden=16,16",
            "--set", "flow.transforms=2"};
  }

  // By a single fit.
  static Arguments tiny_posterior(const std::string& iterations = "50") {
    return tiny_flow(iterations) + Arguments{"--members", "1"};
  }

  // Options of `more` take the place of those in `base`: each may be given once.
  static Arguments changed(Arguments base, const Arguments& more) {
    for (const std::string& word : more) {
      const auto found = std::find(base.begin(), base.end(), word);
      if (!word.starts_with("-") || word == "--set" || found == base.end()) continue;
      base.erase(found, found + 2);
    }
    return base + more;
  }

  // p.model, of pairs.csv, with a flow as proxy; fitted once for all tests.
  void make_posterior() const {
    static const std::string fitted = [&] {
      good(Arguments{"sbi", "fit", "pairs.csv", "--prior", "prior.toml", "-o", "p.model",
                     "--method", "dual"} +
           tiny_posterior());
      return bytes("p.model");
    }();
    file("p.model", fitted);
    std::filesystem::remove(path("p.model.run.json"));
  }
};

}  // namespace jeffreys::testing
