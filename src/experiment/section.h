// What an experiment says: figures, tables and a verdict on each of the paper's claims.
#pragma once

#include <functional>

#include "experiment/results.h"
#include "jeffreys/report/figure.h"
#include "jeffreys/report/page.h"

namespace jeffreys::experiment {

enum class Finding { holds, in_part, fails, not_enough_runs };
[[nodiscard]] const char* text_of(Finding finding);

// The formulas as the paper writes them, our stable form of them, or what does not depend on it.
enum class Form { any, written, stable };

struct Claim {
  std::string paper = {};    // where it is said: a label of the paper
  std::string text = {};     // what it says
  std::string numbers = {};  // ours, with seeds and intervals
  Finding finding = Finding::not_enough_runs;
  std::string brief = {};  // what decided, in a few words
  // What the overview says of it; empty: it is not there. The same for both forms of a claim.
  std::string headline = {};
  Form form = Form::any;
  // Whose runs decide: methods of the plan, and data sets; no data: all of them.
  std::vector<std::string> methods = {};
  std::vector<std::string> data = {};
};

// Fewer decide nothing.
inline constexpr std::size_t kFewestSeeds = 3;

// "lower is better": whether b is below a, from b - a over seeds. Enough seeds and an interval that
// excludes 0 decide; else there are not enough runs.
[[nodiscard]] Finding lower(const std::optional<PairedInterval>& difference);
// Of a claim that speaks of several data sets: it holds if it holds on each, in part if it holds on
// some and fails on others, and fails if it fails somewhere and holds nowhere. Where nothing fails,
// one data set without enough runs leaves the claim without them.
[[nodiscard]] Finding together(const std::vector<Finding>& findings);

// "-0.962 ± 0.012 (5)": mean, deviation over seeds, number of seeds; "–" for nothing.
[[nodiscard]] std::string text_of(const std::optional<SeedSummary>& summary, int digits = 3);
// "-0.18 [-0.21, -0.15], 5 seeds"
[[nodiscard]] std::string text_of(const std::optional<PairedInterval>& difference, int digits = 3);

class Section {
 public:
  // folder: that of the page, which links to the figures below it. Without on_figure, which is told
  // of every figure, none is drawn.
  Section(report::Page& page, std::filesystem::path folder, std::string experiment,
          std::function<void(const std::filesystem::path&)> on_figure = {});

  [[nodiscard]] report::Page& page() { return page_; }
  // Draws figures/EXPERIMENT-NAME.svg and .png and puts the figure on the page.
  void figure(const std::string& name, const std::vector<std::vector<report::Panel>>& panels,
              const std::string& caption, const std::string& title = "");
  // What follows on the page is for those who want to know more: it is folded, and begins with
  // what first_detail writes.
  void details();
  void first_detail(std::function<void(report::Page&)> write) { first_detail_ = std::move(write); }
  void claim(Claim claim) { claims_.push_back(std::move(claim)); }
  [[nodiscard]] const std::vector<Claim>& claims() const { return claims_; }

 private:
  report::Page& page_;
  std::filesystem::path folder_;
  std::string experiment_;
  std::function<void(const std::filesystem::path&)> on_figure_;
  std::function<void(report::Page&)> first_detail_;
  bool folded_ = false;
  std::vector<Claim> claims_;
};

// The mean of a column over seeds at the iterations of the longest run, with a band of one
// deviation if there are several seeds. Runs that were measured at other iterations are
// interpolated.
[[nodiscard]] report::Curves::Line mean_line(const Results& results, const std::string& data,
                                             const std::string& method, const std::string& column,
                                             const std::string& name, int color);

}  // namespace jeffreys::experiment
