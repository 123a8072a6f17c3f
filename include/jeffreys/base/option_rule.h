// An option is declared once: its key, its field, which values it may have, and a line of help, in
// a visitor beside the struct that holds it. Validation, settings, help, and the fingerprint of a
// run all come from there.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace jeffreys {

struct OptionRule {
  const char* expected = "a finite number";
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  // `least` itself is too little
  bool below_most = false;   // `most` itself is too much
  // Whether the option changes what training does, so that a resumed run must have the same value.
  bool in_fingerprint = true;

  // The same for an option that only says when training ends or what is written down.
  [[nodiscard]] constexpr OptionRule not_in_fingerprint() const {
    OptionRule rule = *this;
    rule.in_fingerprint = false;
    return rule;
  }
};

inline constexpr OptionRule kAnyNumber{};
inline constexpr OptionRule kNotNegative{"a number that is not negative", 0};
inline constexpr OptionRule kPositive{
    .expected = "a positive number", .least = 0, .above_least = true};
inline constexpr OptionRule kBelowOne{
    .expected = "a number from 0 to below 1", .least = 0, .most = 1, .below_most = true};
inline constexpr OptionRule kShare{"a number from 0 to 1", 0, 1};
inline constexpr OptionRule kAtLeastOne{"at least 1", 1};
inline constexpr OptionRule kAtLeastTwo{"at least 2", 2};
// For an enumeration or a flag, whose type already says which values are possible.
inline constexpr OptionRule kOneOfItsNames{};

// The name of an enumerator in files and on command lines. Each enumeration that is an option has
// names(E), an array of these.
template <typename E>
struct EnumName {
  std::string_view name;
  E value;
};

// Throws std::invalid_argument naming the key, expected and actual value.
template <typename Value>
void check_option(const char* key, const Value& value, const OptionRule& rule) {
  if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
    const auto number = static_cast<double>(value);
    const bool enough = rule.above_least ? number > rule.least : number >= rule.least;
    const bool not_too_much = rule.below_most ? number < rule.most : number <= rule.most;
    if (enough && not_too_much && std::isfinite(number)) return;
    std::array<char, 64> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    throw std::invalid_argument(std::string(key) + ": expected " + rule.expected + ", got " +
                                std::string(digits.data(), end));
  }
}

}  // namespace jeffreys
