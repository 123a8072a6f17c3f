// Runs the command line program in a folder of its own, without a shell.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/scratch_folder.h"

namespace jeffreys::testing {

using Arguments = std::vector<std::string>;

// The program's exit codes.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kBadInput = 3;
inline constexpr int kDiverged = 4;

struct Outcome {
  int exit_code = -1;  // -1 if a signal ended it
  int signal = 0;
  std::string out;
  std::string err;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};
inline void PrintTo(const Outcome& outcome, std::ostream* stream) {
  *stream << "exit code " << outcome.exit_code << ", signal " << outcome.signal << "\n--- stdout\n"
          << outcome.out.substr(0, 2000) << "\n--- stderr\n"
          << outcome.err;
}

inline Arguments operator+(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A running program. Ends it, if it still runs, in its destructor.
class Process {
 public:
  struct Setting {
    std::filesystem::path folder;
    std::filesystem::path out_file = {};  // standard output goes there instead of to Outcome::out
    rlim_t largest_file = RLIM_INFINITY;  // as on a full disk
  };

  Process(const Arguments& arguments, const Setting& setting) {
    std::vector<char*> pointers{const_cast<char*>(JEFFREYS_PROGRAM)};
    for (const std::string& a : arguments) pointers.push_back(const_cast<char*>(a.c_str()));
    pointers.push_back(nullptr);
    const int out =
        setting.out_file.empty() ? ::fileno(out_) : ::open(setting.out_file.c_str(), O_WRONLY);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork failed");
    if (pid_ == 0) {
      if (setting.largest_file != RLIM_INFINITY) {
        const rlimit limit{setting.largest_file, setting.largest_file};
        std::signal(SIGXFSZ, SIG_IGN);
        ::setrlimit(RLIMIT_FSIZE, &limit);
      }
      const bool ready = ::chdir(setting.folder.c_str()) == 0 && ::dup2(out, 1) == 1 &&
                         ::dup2(::fileno(err_), 2) == 2;
      if (ready) ::execv(JEFFREYS_PROGRAM, pointers.data());
      ::_exit(127);
    }
    if (!setting.out_file.empty()) ::close(out);
  }
  ~Process() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    std::fclose(out_);
    std::fclose(err_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void send(int signal) const { ::kill(pid_, signal); }

  [[nodiscard]] bool running() {
    if (pid_ > 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = 0;
    return pid_ > 0;
  }

  // Waits until it ends; longer than the limit is a failure. Sanitizers slow the program down.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr double kLimit = 300;
#else
  static constexpr double kLimit = 60;
#endif
  Outcome wait(double seconds = kLimit) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (running()) {
      if (std::chrono::steady_clock::now() > end) {
        ADD_FAILURE() << "the program took more than " << seconds << " s";
        send(SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {.exit_code = WIFEXITED(status_) ? WEXITSTATUS(status_) : -1,
            .signal = WIFSIGNALED(status_) ? WTERMSIG(status_) : 0,
            .out = content(out_),
            .err = content(err_)};
  }

 private:
  static std::string content(std::FILE* file) {
    std::string text;
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    return text;
  }

  std::FILE* out_ = std::tmpfile();
  std::FILE* err_ = std::tmpfile();
  pid_t pid_ = 0;
  int status_ = 0;
};

class ProgramTest : public ScratchTest {
 protected:
  // Small and quick: what is tested is the program, not the fit.
  static Arguments tiny(const std::string& iterations = "30") {
    return {"--set", "iterations=" + iterations,
            "--set", "flow.hidden=16,16",
            "--set", "energy.hidden=16",
            "--set", "flow.transforms=2",
            "--set", "members=1"};
  }

  [[nodiscard]] std::filesystem::path folder() const { return path(""); }

  [[nodiscard]] Outcome run(const Arguments& arguments) const {
    return Process(arguments, {.folder = folder()}).wait();
  }

  // Must succeed.
  Outcome good(const Arguments& arguments) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, kDone)
        << ::testing::PrintToString(arguments) << ::testing::PrintToString(outcome);
    return outcome;
  }

  // jeffreys fit TABLE -o MODEL with tiny settings; must succeed.
  Outcome fit(const std::string& table, const std::string& model,
              const Arguments& more = {}) const {
    return good(Arguments{"fit", table, "-o", model} + tiny() + more);
  }

  // Must fail with this exit code and one message, without leaving or changing a file.
  std::string refusal(int exit_code, const Arguments& arguments) const {
    const std::set<std::string> before = names();
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code)
        << ::testing::PrintToString(arguments) << ::testing::PrintToString(outcome);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, ::testing::StartsWith("jeffreys: "));
    EXPECT_EQ(names(), before);
    return outcome.err;
  }

  // Names of everything in the folder.
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      all.insert(entry.path().filename().string());
    }
    return all;
  }

  [[nodiscard]] std::string bytes(const std::string& name) const { return bytes_of(path(name)); }

  [[nodiscard]] bool exists(const std::string& name) const {
    return std::filesystem::exists(path(name));
  }

  // Sends the signal once the file has so many bytes.
  Outcome interrupted(const Arguments& arguments, int signal, const std::string& name,
                      std::uintmax_t size = 1) const {
    Process process(arguments, {.folder = folder()});
    std::error_code absent;
    const auto bytes_now = [&]() -> std::uintmax_t {
      const std::uintmax_t found = std::filesystem::file_size(path(name), absent);
      return absent ? 0 : found;
    };
    while (process.running() && bytes_now() < size) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    process.send(signal);
    return process.wait();
  }
};

}  // namespace jeffreys::testing
