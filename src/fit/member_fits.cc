#include "jeffreys/fit/member_fits.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <nlohmann/json.hpp>
#include "base/checks.h"
#include "jeffreys/base/input_error.h"

namespace jeffreys {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMemberRecord = "member";
constexpr double kLeastTime = 0.01;  // seconds; 0 would be no limit

// All the work of fit_members.
class MemberFitting {
 public:
  MemberFitting(const MemberJobs& jobs, const FitRun& run)
      : jobs_(jobs),
        run_(run),
        first_(run.only_member.value_or(0)),
        end_(run.only_member ? first_ + 1 : jobs.members),
        workers_(std::clamp<std::size_t>(run.threads, 1, static_cast<std::size_t>(end_ - first_))),
        finished_(static_cast<std::size_t>(jobs.members)),
        next_(first_) {
    check_between("member", first_, 0, jobs.members - 1);
    if (!run_.folder.empty()) fs::create_directories(run_.folder);
  }

  FittedMembers fit_all() {
    running_ = static_cast<int>(workers_);
    std::vector<std::thread> others;
    for (std::size_t w = 1; w < workers_; ++w) {
      others.emplace_back([this] { work(/*watched=*/false); });
    }
    work(/*watched=*/true);
    // Only this thread asks the caller whether to stop.
    while (running_ > 0) {
      ask_to_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    for (std::thread& other : others) other.join();
    if (error_) {
      std::error_code not_empty;  // then it holds what one can go on from
      if (!run_.folder.empty()) fs::remove(run_.folder, not_empty);
      std::rethrow_exception(error_);
    }
    FittedMembers result{.seconds = seconds_, .unfinished = std::move(unfinished_)};
    const bool some_are_missing = stop_ || run_.only_member;
    if (some_are_missing && !result.unfinished) result.unfinished = between_two_fits();
    if (result.unfinished) return result;
    for (std::optional<Member>& member : finished_) result.members.push_back(std::move(*member));
    return result;
  }

 private:
  void ask_to_stop() {
    if (run_.should_stop && run_.should_stop()) stop_ = true;
  }

  void work(bool watched) {
    try {
      for (int m = next_++; m < end_ && !stop_; m = next_++) {
        if (watched) ask_to_stop();
        if (!stop_) fit_one(m, watched);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_ = true;
    }
    --running_;
  }

  void fit_one(int m, bool watched) {
    auto& place = finished_[static_cast<std::size_t>(m)];
    place = load(m);
    if (place) return;
    const PreparedTable table = jobs_.table(m);
    FitOptions options = jobs_.options(m, table.rows());
    options.train.checkpoint.path = file(m, "checkpoint");
    limit_time(options);
    FitRun own = run_;
    own.threads = std::max<std::size_t>(run_.threads / workers_, 1);
    own.should_stop = [this, watched] {
      if (watched) ask_to_stop();
      return stop_.load();
    };
    if (!watched) own.observe = {};
    Fit made = train_fit(table, options, own, fmt::format("fit {} of {}", m + 1, jobs_.fits));
    const std::lock_guard lock(mutex_);
    seconds_ += made.report.training.seconds;
    const StopReason reason = made.report.training.stop_reason;
    if (reason == StopReason::interrupted) {
      if (!unfinished_) unfinished_ = std::move(made);
      return;
    }
    place = Member{std::move(made.density), reason, made.report.training.iterations};
    keep(m, *place);
  }

  // Where there is a limit the members share what is left of their part of it, and what one of them
  // leaves is for the next.
  void limit_time(FitOptions& options) {
    const double limit = options.train.time_limit;
    if (!(limit > 0)) return;
    constexpr double kMembersShare = 2.0 / 3;  // if another fit follows
    const std::lock_guard lock(mutex_);
    const double all = limit * (jobs_.fits > jobs_.members ? kMembersShare : 1);
    const auto to_come = static_cast<double>(jobs_.members - begun_++);
    const double left = all * static_cast<double>(workers_) - promised_;
    const double allowed = std::max(std::min(left / to_come, all), kLeastTime);
    promised_ += allowed;
    options.train.time_limit = allowed;
  }

  // Nothing is under way, but not all is done: any table will do to say so.
  [[nodiscard]] Fit between_two_fits() const {
    for (const std::optional<Member>& member : finished_) {
      if (!member) continue;
      Fit result{member->density, {}};
      result.report.training.stop_reason = StopReason::interrupted;
      return result;
    }
    FitOptions options = jobs_.options(0, jobs_.table(0).rows());
    FitRun stopped{.should_stop = [] { return true; }};
    return train_fit(jobs_.table(0), options, stopped, "");
  }

  [[nodiscard]] fs::path file(int member, const char* ending) const {
    return run_.folder.empty() ? fs::path()
                               : run_.folder / fmt::format("{}.{}", member + 1, ending);
  }

  [[nodiscard]] std::optional<Member> load(int m) const {
    const fs::path path = file(m, "model");
    if (path.empty() || !run_.resume || !fs::exists(path)) return {};
    Member member{TabularDensity<float>::load(path)};
    const auto json =
        nlohmann::json::parse(member.density.attachments[kMemberRecord], nullptr, false);
    if (!json.is_object() || json.value("fingerprint", "") != jobs_.fingerprint(m)) {
      throw InputError(path.string(),
                       fmt::format("was fitted to other rows or with other settings: resume with "
                                   "the same ones, or delete {}",
                                   run_.folder.string()));
    }
    member.density.attachments.erase(kMemberRecord);
    member.stop_reason = static_cast<StopReason>(json.value("stop_reason", 0));
    member.iterations = json.value("iterations", std::int64_t{0});
    return member;
  }

  void keep(int m, const Member& member) const {
    if (run_.folder.empty()) return;
    TabularDensity<float> density = member.density;
    density.attachments[kMemberRecord] = nlohmann::json{
        {"fingerprint", jobs_.fingerprint(m)},
        {"stop_reason", static_cast<int>(member.stop_reason)},
        {"iterations", member.iterations}}.dump();
    density.save(file(m, "model"));
    fs::remove(file(m, "checkpoint"));
  }

  const MemberJobs& jobs_;
  const FitRun& run_;
  int first_;  // of the members that this run fits
  int end_;
  std::size_t workers_;
  std::vector<std::optional<Member>> finished_;
  std::atomic<int> next_;
  std::atomic<int> running_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // of what follows
  std::exception_ptr error_;
  std::optional<Fit> unfinished_;
  double seconds_ = 0;
  double promised_ = 0;
  int begun_ = 0;
};

}  // namespace

MemberParts::MemberParts(std::size_t rows, int members, int left_out_by, std::uint64_t seed)
    : members_(members), left_out_by_(left_out_by) {
  check_between("members", members, 2, static_cast<std::int64_t>(rows));
  check_between("left_out_by", left_out_by, 1, members - 1);
  part_ = random_parts(rows, static_cast<std::size_t>(members), seed);
}

std::vector<std::size_t> MemberParts::rows_of(int part) const {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < part_.size(); ++i) {
    if (part_[i] == static_cast<std::size_t>(part)) rows.push_back(i);
  }
  return rows;
}

std::vector<std::size_t> MemberParts::rows_without(int part) const {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < part_.size(); ++i) {
    if (part_[i] != static_cast<std::size_t>(part)) rows.push_back(i);
  }
  return rows;
}

Split MemberParts::split(int member) const {
  Split split;
  const auto count = static_cast<std::size_t>(members_);
  for (std::size_t i = 0; i < part_.size(); ++i) {
    const std::size_t after = (part_[i] + count - static_cast<std::size_t>(member)) % count;
    const bool left_out = after < static_cast<std::size_t>(left_out_by_);
    (left_out ? split.validation : split.training).push_back(i);
  }
  return split;
}

std::vector<int> MemberParts::leaving_out(int part) const {
  std::vector<int> result;
  for (int k = 0; k < left_out_by_; ++k) result.push_back((part + members_ - k) % members_);
  return result;
}

FittedMembers fit_members(const MemberJobs& jobs, const FitRun& run) {
  return MemberFitting(jobs, run).fit_all();
}

Fit fit_after_members(const PreparedTable& table, FitOptions options, const SpentOnMembers& spent,
                      const FitRun& run) {
  const double limit = options.train.time_limit;
  const auto workers = static_cast<double>(
      std::clamp<std::size_t>(run.threads, 1, static_cast<std::size_t>(spent.members)));
  if (limit > 0) options.train.time_limit = std::max(limit - spent.seconds / workers, kLeastTime);
  const int number = spent.members + 1;
  options.train.checkpoint.path =
      run.folder.empty() ? fs::path() : run.folder / fmt::format("{}.checkpoint", number);
  return train_fit(table, options, run, fmt::format("fit {0} of {0}", number));
}

}  // namespace jeffreys
