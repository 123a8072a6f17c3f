#include "sbi/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace jeffreys {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSlice = 50;  // milliseconds between looks at the clock, the child and the stop token
constexpr std::size_t kPiece = std::size_t{1} << 16;
constexpr std::size_t kErrorTail = 2048;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  void close() {
    if (open()) ::close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

// Away from 0, 1 and 2, which are free where this process has none: a copy onto itself would stay
// closed on exec.
Descriptor above_standard(int number) {
  Descriptor low(number);
  if (number > STDERR_FILENO) return low;
  Descriptor high(::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!high.open()) fail("no pipe");
  return high;
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("no pipe");
  return {above_standard(ends[0]), above_standard(ends[1])};
}

void do_not_block(const Descriptor& descriptor) {
  if (::fcntl(descriptor.number(), F_SETFL, O_NONBLOCK) != 0) fail("no pipe");
}

// Writing to a command that closed its input raises SIGPIPE in this thread; it is held back, and
// taken away again, without touching what the process as a whole does with the signal.
class WithoutBrokenPipes {
 public:
  WithoutBrokenPipes() {
    ::sigemptyset(&broken_pipe_);
    ::sigaddset(&broken_pipe_, SIGPIPE);
    ::sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe_, &before_);
  }
  ~WithoutBrokenPipes() {
    const ::timespec no_time{};
    if (!was_pending_) ::sigtimedwait(&broken_pipe_, nullptr, &no_time);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutBrokenPipes(const WithoutBrokenPipes&) = delete;
  WithoutBrokenPipes& operator=(const WithoutBrokenPipes&) = delete;

 private:
  ::sigset_t broken_pipe_{};
  ::sigset_t before_{};
  bool was_pending_ = false;
};

class Child {
 public:
  explicit Child(const ProcessRequest& request);
  ~Child() {
    ProcessResult ignored;
    if (!reaped_) reap(ignored);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Until it ends, or a reason to end it comes first.
  ProcessResult exchange(const ProcessRequest& request, const std::stop_token& stop);

 private:
  bool has_exited() const;
  void wait_for_events();
  void feed(std::string_view& input);
  void read_output(const ProcessRequest& request, ProcessResult& result);
  void read_errors(ProcessResult& result);
  // Kills what is left of the group first: once the child is reaped its number may be another's.
  void reap(ProcessResult& result);

  Pipe input_ = make_pipe();
  Pipe output_ = make_pipe();
  Pipe errors_ = make_pipe();
  ::pid_t id_ = 0;
  bool reaped_ = false;
  bool idle_ = false;  // nothing happened for a slice
  bool too_much_ = false;
  std::size_t lines_ = 0;
};

// Between fork and exec only calls that are safe while other threads hold locks.
[[noreturn]] void become(char* const* arguments, char* const* environment, int input, int output,
                         int errors) {
  ::setpgid(0, 0);
  // A simulator must not outlive a parent that was killed and cannot clean up.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE, SIG_DFL);
  ::sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(input, 0) >= 0 && ::dup2(output, 1) >= 0 && ::dup2(errors, 2) >= 0) {
    ::execve(arguments[0], arguments, environment);
  }
  ::_exit(127);
}

// This process's variables, with the request's in place of those of the same name.
std::vector<char*> environment_of(std::vector<std::string>& ours) {
  std::vector<char*> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const bool replaced = std::any_of(ours.begin(), ours.end(), [&](const std::string& own) {
      return text.starts_with(std::string_view(own).substr(0, own.find('=') + 1));
    });
    if (!replaced) all.push_back(*variable);
  }
  for (std::string& own : ours) all.push_back(own.data());
  all.push_back(nullptr);
  return all;
}

Child::Child(const ProcessRequest& request) {
  std::string shell = "/bin/sh";
  std::string option = "-c";
  std::string command = request.command;
  const std::array<char*, 4> arguments{shell.data(), option.data(), command.data(), nullptr};
  std::vector<std::string> ours = request.environment;
  const std::vector<char*> environment = environment_of(ours);
  do_not_block(input_.write);
  do_not_block(output_.read);
  do_not_block(errors_.read);
  id_ = ::fork();
  if (id_ < 0) fail("no process");
  if (id_ == 0) {
    become(arguments.data(), environment.data(), input_.read.number(), output_.write.number(),
           errors_.write.number());
  }
  // On both sides, since either may be first.
  ::setpgid(id_, id_);
  input_.read.close();
  output_.write.close();
  errors_.write.close();
}

bool Child::has_exited() const {
  ::siginfo_t info{};
  const int result = ::waitid(P_PID, static_cast<::id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT);
  // Where SIGCHLD is ignored there is nobody left to ask for.
  return result != 0 ? errno == ECHILD : info.si_pid == id_;
}

void Child::wait_for_events() {
  if (!output_.read.open() && !errors_.read.open()) {
    // Nothing but the end is to come, which is no event.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    idle_ = true;
    return;
  }
  std::array<::pollfd, 3> events{{{input_.write.number(), POLLOUT, 0},
                                  {output_.read.number(), POLLIN, 0},
                                  {errors_.read.number(), POLLIN, 0}}};
  idle_ = ::poll(events.data(), events.size(), kSlice) == 0;
}

void Child::feed(std::string_view& input) {
  while (input_.write.open()) {
    if (input.empty()) {
      input_.write.close();
      return;
    }
    const ::ssize_t count =
        ::write(input_.write.number(), input.data(), std::min(input.size(), kPiece));
    if (count < 0) {
      // Others than these two, such as EPIPE: it does not want to read any more.
      if (errno != EAGAIN && errno != EINTR) input_.write.close();
      return;
    }
    input.remove_prefix(static_cast<std::size_t>(count));
  }
}

// Appends what there is, one piece at most, and closes at the end.
std::size_t read_piece(Descriptor& from, std::string& to) {
  if (!from.open()) return 0;
  std::array<char, kPiece> buffer;
  const ::ssize_t count = ::read(from.number(), buffer.data(), buffer.size());
  if (count > 0) {
    to.append(buffer.data(), static_cast<std::size_t>(count));
    return static_cast<std::size_t>(count);
  }
  if (count == 0 || (errno != EAGAIN && errno != EINTR)) from.close();
  return 0;
}

void Child::read_output(const ProcessRequest& request, ProcessResult& result) {
  const std::size_t count = read_piece(output_.read, result.output);
  lines_ += static_cast<std::size_t>(std::count(
      result.output.end() - static_cast<std::ptrdiff_t>(count), result.output.end(), '\n'));
  too_much_ = lines_ > request.most_lines || result.output.size() > request.most_bytes;
}

void Child::read_errors(ProcessResult& result) {
  read_piece(errors_.read, result.errors);
  if (result.errors.size() > kErrorTail) {
    result.errors.erase(0, result.errors.size() - kErrorTail);
  }
}

void Child::reap(ProcessResult& result) {
  ::kill(-id_, SIGKILL);
  int status = 0;
  while (::waitpid(id_, &status, 0) < 0) {
    // Somebody ignores SIGCHLD, so there is no status: the output has to speak for itself.
    if (errno != EINTR) break;
  }
  reaped_ = true;
  result.end = WIFSIGNALED(status) ? ProcessEnd::killed : ProcessEnd::exited;
  result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

ProcessResult Child::exchange(const ProcessRequest& request, const std::stop_token& stop) {
  const auto end = Clock::now() + std::chrono::duration<double>(request.seconds);
  std::string_view input = request.input;
  ProcessResult result;
  while (true) {
    const bool gone = has_exited();
    wait_for_events();
    feed(input);
    read_output(request, result);
    read_errors(result);
    // Silence is enough: a process that it left behind may keep the pipes open.
    if (gone && idle_) {
      reap(result);
      return result;
    }
    if (too_much_) result.end = ProcessEnd::too_much_output;
    if (Clock::now() > end) result.end = ProcessEnd::timed_out;
    if (stop.stop_requested()) result.end = ProcessEnd::stopped;
    if (result.end != ProcessEnd::exited) return result;
  }
}

}  // namespace

ProcessResult run_process(const ProcessRequest& request, const std::stop_token& stop) {
  Child child(request);
  const WithoutBrokenPipes held;
  return child.exchange(request, stop);
}

}  // namespace jeffreys
