#include "cli/command.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <system_error>

#include "jeffreys/storage/atomic_file.h"

namespace jeffreys::cli {

void tell(const std::string& text) {
  // A standard error that is closed or full must not end what is under way.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

void say(const Globals& globals, const std::string& line) {
  if (!globals.quiet) tell(line + "\n");
}

void fail_output() {
  if (errno == EPIPE) throw ReaderGone();
  throw storage::WriteError("standard output", "cannot be written: is the disk full?");
}

void print_line(const std::string& line) {
  const std::string text = line + "\n";
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    fail_output();
  }
}

void print_json(const Json& json) { print_line(json.dump(2)); }

void add_seed(CLI::App& command, std::uint64_t& target, const std::string& help) {
  const auto whole = [](const std::string& text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end) return std::string();
    return fmt::format("expected a whole number from 0 to {}, got {}",
                       std::numeric_limits<std::uint64_t>::max(), text);
  };
  command.add_option("--seed", target, help)->check(CLI::Validator(whole, "", "whole number"));
}

CLI::Validator positive() {
  return {
      [](const std::string& text) {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool good = end == text.c_str() + text.size() && value > 0 && std::isfinite(value);
        return good ? std::string() : fmt::format("expected a finite number above 0, got {}", text);
      },
      "POSITIVE", "positive"};
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace jeffreys::cli
