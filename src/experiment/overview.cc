#include "experiment/overview.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

namespace jeffreys::experiment {
namespace {

// Figures have no numbers in the paper's source, which counts them in this order.
constexpr std::pair<const char*, const char*> kFigures[] = {{"fig:mle", "1a"},
                                                            {"fig:teaser_wgan_mode", "1b"},
                                                            {"fig:teaser_wgan_loss", "1c"},
                                                            {"fig:uci", "2"},
                                                            {"fig:weighted", "3"},
                                                            {"fig:wgan", "4"},
                                                            {"fig:main_density", "5"},
                                                            {"fig:sbi_c2st", "6"},
                                                            {"fig:uci_noise_test", "7a"},
                                                            {"fig:uci_noise_train", "7b"},
                                                            {"fig:ap_wgan", "8"},
                                                            {"fig:appendix_density", "9"},
                                                            {"fig:celeba", "10"},
                                                            {"fig:runtime", "11"}};

report::Verdict colour(Finding finding) {
  switch (finding) {
    case Finding::holds: return report::Verdict::good;
    case Finding::in_part: return report::Verdict::mixed;
    case Finding::fails: return report::Verdict::bad;
    case Finding::not_enough_runs: break;
  }
  return report::Verdict::none;
}

std::string sentence(const Judgement& judgement) {
  return judgement.reasons.empty() ? judgement.words
                                   : fmt::format("{}: {}", judgement.words, judgement.reasons);
}

// With a capital letter in front and a full stop behind.
std::string as_sentence(std::string text) {
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + ".";
}

const Claim* find(const Told& told, const std::string& headline, bool stable) {
  for (const Claim& claim : told.claims) {
    if (claim.headline == headline && (claim.form == Form::stable) == stable) return &claim;
  }
  return nullptr;
}

report::Cell cell_of(const Told& told, const Claim* claim, const IterationTimes& times) {
  if (claim == nullptr) return {"–"};
  const Judgement judgement = judge(told, *claim, times);
  return {sentence(judgement), judgement.verdict};
}

std::vector<std::string> headlines(const Told& told) {
  std::vector<std::string> list;
  for (const Claim& claim : told.claims) {
    const bool known = std::find(list.begin(), list.end(), claim.headline) != list.end();
    if (!claim.headline.empty() && !known) list.push_back(claim.headline);
  }
  return list;
}

// "10,000": of the plan's methods, from the shortest on.
std::string lengths(const Plan& plan, double scale) {
  std::set<std::int64_t> all;
  for (const Job& job : make_jobs(plan, scale, 1)) {
    if (job.baseline.empty()) all.insert(job.options.train.iterations);
  }
  return fmt::format("{}", fmt::join(all, " or "));
}

std::string short_text(const Told& told) {
  return fmt::format(
      "A short run: scale {}, {} iterations where the experiment has {}. It shows that everything "
      "works and says nothing about the paper, so there are no verdicts.",
      told.scale, lengths(told.plan, told.scale), lengths(told.plan, 1));
}

void how_verdicts_are_made(report::Page& page) {
  page.fold("How verdicts are made");
  page.paragraph(
      "The program decides each of them from the runs below. On one data set a claim is decided by "
      "at least three seeds and the 95 % interval of the paired difference over them, which has to "
      "exclude zero. A claim about several data sets holds if it holds on every one. It holds in "
      "part if it holds on some and fails on others, or is undecided there with enough runs. Where "
      "nothing fails and a data set lacks runs, there are not enough. At the end of a run a "
      "divergence counts against the method: a data set fails where it alone diverged with some "
      "seed, and a seed is won where only the other diverged. Where an experiment has one seed, as "
      "in the paper, two standard errors of the evaluation decide, and the numbers say so.");
  page.paragraph(
      "As written: the paper's formulas and settings. Stable form: log zeta in the two constraints "
      "on zeta, and one set of samples for the reverse KL and for zeta. –: there are no runs of "
      "that form, since nothing there is different or nobody asked. Figures are counted in the "
      "order of the paper's source. Core-hours of what is lacking are those of the cost table.");
  page.unfold();
}

}  // namespace

Judgement judge(const Told& told, const Claim& claim, const IterationTimes& times) {
  Judgement judgement{text_of(claim.finding), claim.brief, colour(claim.finding)};
  if (claim.finding != Finding::not_enough_runs) return judgement;
  const NeededRuns needed = needed_runs(told.plan, told.results, times, claim.methods, claim.data);
  if (needed.lacking == 0) {
    judgement.words = "undecided";
  } else if (needed.lacking == needed.all) {
    judgement.words = "not run";
    judgement.reasons =
        fmt::format("{} runs, about {} core-hours", needed.all, hours_text(needed.hours));
    return judgement;
  }
  const std::string before = claim.brief.empty() ? "" : claim.brief + "; ";
  judgement.reasons = needed.lacking == 0
                          ? fmt::format("{}all {} runs are there", before, needed.all)
                          : fmt::format("{}{} of {} runs are lacking, about {} core-hours", before,
                                        needed.lacking, needed.all, hours_text(needed.hours));
  return judgement;
}

std::string figures_of(const std::string& labels) {
  std::vector<std::string> numbers;
  for (const auto& [label, number] : kFigures) {
    const std::size_t place = labels.find(label);
    if (place == std::string::npos) continue;
    const std::size_t end = place + std::string(label).size();
    if (end == labels.size() || labels[end] == ',') numbers.emplace_back(number);
  }
  return fmt::format("{}", fmt::join(numbers, ", "));
}

void overview(report::Page& page, const std::vector<Told>& all, const IterationTimes& times) {
  page.heading("At a glance", 2, "overview");
  std::vector<std::vector<report::Cell>> rows;
  for (const Told& told : all) {
    if (told.is_short()) continue;
    for (const std::string& headline : headlines(told)) {
      const Claim* written = find(told, headline, false);
      const Claim* stable = find(told, headline, true);
      report::Cell figure(figures_of((written != nullptr ? written : stable)->paper));
      figure.link = told.plan.name;
      rows.push_back(
          {figure, headline, cell_of(told, written, times), cell_of(told, stable, times)});
    }
  }
  std::vector<std::string> brief;
  for (const Told& told : all) {
    if (told.is_short()) brief.push_back(told.plan.name);
  }
  if (!brief.empty()) {
    page.notice(fmt::format("A short run, which shows that everything works and says nothing about "
                            "the paper: there are no verdicts on {}.",
                            fmt::join(brief, ", ")),
                report::Notice::warning);
  }
  if (rows.empty()) return;
  // In the order of the paper, appendices last.
  const auto number = [](const std::vector<report::Cell>& row) {
    return std::atoi(row.front().text.c_str());
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return number(a) < number(b); });
  page.table({"figure", "the paper says", "as written", "stable form"}, rows,
             {.caption = "Each figure of the paper, what it claims, and what our runs say.",
              .numeric = {false, false, false, false}});
  how_verdicts_are_made(page);
}

void answer(report::Page& page, const Told& told, const IterationTimes& times) {
  if (told.is_short()) {
    page.notice(short_text(told), report::Notice::warning);
    return;
  }
  const std::vector<std::string> list = headlines(told);
  if (list.empty()) return;
  const Claim* written = find(told, list.front(), false);
  const Claim* stable = find(told, list.front(), true);
  page.paragraph(fmt::format("The paper (figure {}): {}",
                             figures_of((written != nullptr ? written : stable)->paper),
                             list.front()));
  if (stable == nullptr) {
    const Judgement judgement = judge(told, *written, times);
    page.verdict(as_sentence(judgement.words), as_sentence(judgement.reasons), judgement.verdict);
    return;
  }
  const Judgement judgement = judge(told, *stable, times);
  std::string reasons = as_sentence(judgement.reasons);
  if (written != nullptr) {
    reasons += fmt::format(" As written: {}.", sentence(judge(told, *written, times)));
  }
  page.verdict(fmt::format("In the stable form: {}.", judgement.words), reasons, judgement.verdict);
}

void claims_table(report::Page& page, const Told& told, const IterationTimes& times) {
  if (told.is_short() || told.claims.empty()) return;
  std::vector<std::vector<report::Cell>> rows;
  std::vector<std::vector<report::Cell>> numbers;
  for (const Claim& claim : told.claims) {
    const Judgement judgement = judge(told, claim, times);
    rows.push_back({claim.text, report::Cell(judgement.words, judgement.verdict), judgement.reasons,
                    claim.paper});
    if (!claim.numbers.empty()) numbers.push_back({claim.text, claim.numbers});
  }
  page.table({"claim", "verdict", "why", "in the paper"}, rows,
             {.caption = "Every claim.", .numeric = {false, false, false, false}});
  if (numbers.empty()) return;
  page.fold("The numbers behind the verdicts");
  page.table({"claim", "our numbers"}, numbers, {.numeric = {false, false}});
  page.unfold();
}

}  // namespace jeffreys::experiment
