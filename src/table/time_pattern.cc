#include "table/time_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>

namespace jeffreys {
namespace {

constexpr double kSecondsOfDay = 86400;
constexpr std::array<std::string_view, 12> kMonths{"January",   "February", "March",    "April",
                                                   "May",       "June",     "July",     "August",
                                                   "September", "October",  "November", "December"};

char small(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(),
                    [](char a, char b) { return small(a) == small(b); });
}

struct Moment {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  double second = 0;
  int half = -1;    // 0 in the morning, 1 after noon
  double zone = 0;  // seconds before UTC
};

// A part of a pattern: a letter after %, with its flag, or a character that stands for itself.
struct Part {
  char letter = '\0';  // '\0': itself
  char flag = '\0';
  char itself = '\0';
};

Part next_part(std::string_view& pattern) {
  Part part;
  if (pattern.front() != '%' || pattern.size() < 2) {
    part.itself = pattern.front();
    pattern.remove_prefix(1);
    return part;
  }
  pattern.remove_prefix(1);
  if ((pattern.front() == '-' || pattern.front() == '^') && pattern.size() > 1) {
    part.flag = pattern.front();
    pattern.remove_prefix(1);
  }
  part.letter = pattern.front();
  pattern.remove_prefix(1);
  return part;
}

class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : text_(text) {}

  std::string_view rest() const { return text_; }

  bool part(const Part& part, Moment& m) {
    switch (part.letter) {
      case '\0': return take(part.itself);
      case 'Y': return whole(4, 4, m.year) && m.year > 0;
      case 'y': return two_digit_year(m.year);
      case 'm': return whole(1, 2, m.month) && m.month >= 1 && m.month <= 12;
      case 'd': return whole(1, 2, m.day) && m.day >= 1 && m.day <= 31;
      case 'b': return month_name(3, m.month);
      case 'B': return month_name(0, m.month);
      case 'H': return whole(1, 4, m.hour);
      case 'I': return whole(1, 2, m.hour) && m.hour >= 1 && m.hour <= 12;
      case 'M': return whole(2, 2, m.minute) && m.minute < 60;
      case 'S': return seconds(m.second);
      case 'p': return half(m.half);
      case 'z': return zone(m.zone);
      default: return false;
    }
  }

 private:
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool whole(std::size_t least, std::size_t most, int& value) {
    std::size_t digits = 0;
    value = 0;
    while (digits < most && digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9') {
      value = 10 * value + (text_[digits++] - '0');
    }
    text_.remove_prefix(digits);
    return digits >= least;
  }

  // As POSIX reads them: 69 to 99 are of the last century.
  bool two_digit_year(int& year) {
    if (!whole(2, 2, year)) return false;
    year += year < 69 ? 2000 : 1900;
    return text_.empty() || text_.front() < '0' || text_.front() > '9';
  }

  bool seconds(double& value) {
    int whole_seconds = 0;
    if (!whole(2, 2, whole_seconds) || whole_seconds > 59) return false;
    value = whole_seconds;
    if (text_.size() < 2 || (text_.front() != '.' && text_.front() != ',')) return true;
    if (text_[1] < '0' || text_[1] > '9') return true;
    double digits = 0;
    double power = 1;
    std::size_t size = 1;
    for (; size < text_.size() && text_[size] >= '0' && text_[size] <= '9'; ++size) {
      if (power < 1e15) digits = 10 * digits + (text_[size] - '0');
      if (power < 1e15) power *= 10;
    }
    text_.remove_prefix(size);
    value += digits / power;
    return true;
  }

  bool month_name(std::size_t letters, int& month) {
    for (std::size_t i = 0; i < kMonths.size(); ++i) {
      const std::string_view name = letters > 0 ? kMonths[i].substr(0, letters) : kMonths[i];
      if (!starts_with_word(text_, name)) continue;
      text_.remove_prefix(name.size());
      month = static_cast<int>(i) + 1;
      return true;
    }
    return false;
  }

  bool half(int& value) {
    if (!starts_with_word(text_, "am") && !starts_with_word(text_, "pm")) return false;
    value = small(text_.front()) == 'p' ? 1 : 0;
    text_.remove_prefix(2);
    return true;
  }

  bool zone(double& seconds) {
    if (text_ == "Z") {
      text_ = {};
      return true;
    }
    if (text_.empty() || (text_.front() != '+' && text_.front() != '-')) return false;
    const double sign = text_.front() == '-' ? -1 : 1;
    text_.remove_prefix(1);
    int hours = 0;
    int minutes = 0;
    if (!whole(2, 2, hours)) return false;
    take(':');
    if (!text_.empty() && !whole(2, 2, minutes)) return false;
    seconds = sign * (3600 * hours + 60 * minutes);
    return hours < 24 && minutes < 60;
  }

  std::string_view text_;
};

std::optional<double> value_of(std::string_view pattern, Moment m) {
  if (m.half >= 0) m.hour = m.hour % 12 + 12 * m.half;
  const double time = 3600.0 * m.hour + 60.0 * m.minute + m.second;
  if (!has_date(pattern)) return time;
  using namespace std::chrono;
  const year_month_day date{year(m.year), month(static_cast<unsigned>(m.month)),
                            day(static_cast<unsigned>(m.day))};
  if (!date.ok() || m.hour > 23) return std::nullopt;
  const auto days = static_cast<double>(sys_days(date).time_since_epoch().count());
  switch (unit_of_pattern(pattern)) {
    case Unit::month: return 12.0 * (m.year - 1970) + m.month - 1;
    case Unit::day: return days;
    default: return kSecondsOfDay * days + time - m.zone;
  }
}

Moment moment_of(std::string_view pattern, double value) {
  Moment m;
  double time = 0;
  double days = 0;
  switch (unit_of_pattern(pattern)) {
    case Unit::month: {
      const double months = std::clamp(std::round(value), -12.0 * 1969, 12.0 * 8030 - 1);
      m.year = 1970 + static_cast<int>(std::floor(months / 12));
      m.month = 1 + static_cast<int>(months - 12 * std::floor(months / 12));
      return m;
    }
    case Unit::day: days = std::round(value); break;
    default:
      days = has_date(pattern) ? std::floor(value / kSecondsOfDay) : 0;
      time = value - kSecondsOfDay * days;
  }
  using namespace std::chrono;
  constexpr double kFirst = -719162;  // 0001-01-01
  constexpr double kLast = 2932896;   // 9999-12-31
  const year_month_day date{sys_days(std::chrono::days(
      static_cast<int>(std::isfinite(days) ? std::clamp(days, kFirst, kLast) : 0)))};
  m.year = static_cast<int>(date.year());
  m.month = static_cast<int>(static_cast<unsigned>(date.month()));
  m.day = static_cast<int>(static_cast<unsigned>(date.day()));
  time = std::clamp(time, 0.0, 3600.0 * 9999);
  m.hour = static_cast<int>(time / 3600);
  m.minute = static_cast<int>((time - 3600.0 * m.hour) / 60);
  m.second = time - 3600.0 * m.hour - 60.0 * m.minute;
  return m;
}

// The rest of the text behind what the pattern describes.
std::optional<std::string_view> read_parts(std::string_view pattern, std::string_view text,
                                           Moment& moment) {
  TimeReader reader(text);
  while (!pattern.empty()) {
    if (!reader.part(next_part(pattern), moment)) return std::nullopt;
  }
  return reader.rest();
}

// Patterns of the time in a text that may end with a time zone.
std::vector<std::string> times_of(std::string_view text) {
  std::vector<std::string> found;
  for (const std::string_view time :
       {"%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%I:%M:%S%p"}) {
    Moment moment;
    const auto rest = read_parts(time, text, moment);
    if (!rest) continue;
    if (rest->empty() || *rest == "Z" || *rest == " UTC") {
      found.push_back(fmt::format("{}{}", time, *rest));
      continue;
    }
    const std::string_view blank = rest->starts_with(' ') ? " " : "";
    if (!read_parts("%z", rest->substr(blank.size()), moment)) continue;
    // The same in all rows, it stands for itself; else times become those of UTC.
    found.push_back(fmt::format("{}{}", time, *rest));
    found.push_back(fmt::format("{}{}%z", time, blank));
  }
  return found;
}

std::string number_text(int value, const Part& part) {
  return part.flag == '-' ? fmt::format("{}", value) : fmt::format("{:02}", value);
}

std::string month_text(const Part& part, int month) {
  std::string name(kMonths[static_cast<std::size_t>(month) - 1]);
  if (part.letter == 'b') name.resize(3);
  if (part.flag == '^') {
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

std::string part_text(const Part& part, const Moment& m, int decimals) {
  switch (part.letter) {
    case '\0': return std::string(1, part.itself);
    case 'Y': return fmt::format("{:04}", m.year);
    case 'y': return fmt::format("{:02}", m.year % 100);
    case 'm': return number_text(m.month, part);
    case 'd': return number_text(m.day, part);
    case 'b':
    case 'B': return month_text(part, m.month);
    case 'H': return number_text(m.hour, part);
    case 'I': return number_text((m.hour + 11) % 12 + 1, part);
    case 'M': return number_text(m.minute, part);
    case 'S':
      return decimals > 0 ? fmt::format("{:0{}.{}f}", m.second, decimals + 3, decimals)
                          : fmt::format("{:02.0f}", m.second);
    case 'p': return m.hour < 12 ? "AM" : "PM";
    case 'z': return "+00:00";
    default: return {};
  }
}

}  // namespace

bool has_date(std::string_view pattern) {
  return pattern.find("%Y") != std::string_view::npos ||
         pattern.find("%y") != std::string_view::npos;
}

Unit unit_of_pattern(std::string_view pattern) {
  if (pattern.find("%M") != std::string_view::npos) return Unit::second;
  const bool day =
      pattern.find("%d") != std::string_view::npos || pattern.find("%-d") != std::string_view::npos;
  return day ? Unit::day : Unit::month;
}

std::optional<double> read_time(std::string_view pattern, std::string_view cell) {
  Moment moment;
  const auto rest = read_parts(pattern, cell, moment);
  if (!rest || !rest->empty()) return std::nullopt;
  return value_of(pattern, moment);
}

std::string write_time(std::string_view pattern, double value, int decimals) {
  // Rounded as a whole, so that 59.9996 seconds carry over to the minute.
  const bool seconds = pattern.find("%S") != std::string_view::npos;
  if (unit_of_pattern(pattern) == Unit::second) {
    const double step = seconds ? std::pow(10.0, -std::clamp(decimals, 0, 9)) : 60;
    value = std::round(value / step) * step;
  }
  Moment moment = moment_of(pattern, value);
  if (seconds) {
    const double power = std::pow(10.0, std::clamp(decimals, 0, 9));
    moment.second = std::min(std::round(moment.second * power) / power, 60 - 1 / power);
  }
  std::string text;
  for (std::string_view rest = pattern; !rest.empty();) {
    text += part_text(next_part(rest), moment, std::clamp(decimals, 0, 9));
  }
  return text;
}

std::vector<std::string> patterns_of(std::string_view cell) {
  // The likeliest first, where a cell may be read in several ways.
  constexpr std::array<std::string_view, 23> kDates{
      "%Y-%m-%d",  "%Y/%m/%d", "%Y.%m.%d",  "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y",
      "%d-%m-%Y",  "%m-%d-%Y", "%d.%m.%y",  "%m/%d/%y", "%d/%m/%y", "%d-%b-%Y",
      "%d %b %Y",  "%d%b%Y",   "%b %d, %Y", "%d-%b-%y", "%d %B %Y", "%B %d, %Y",
      "%d. %B %Y", "%Y-%m",    "%b %Y",     "%b-%Y",    "%Y/%m"};
  constexpr std::size_t kLongest = 40;
  std::vector<std::string> found;
  if (cell.size() > kLongest) return found;
  const auto consider = [&](std::string pattern) {
    if (read_time(pattern, cell)) found.push_back(std::move(pattern));
  };
  for (const std::string_view date : kDates) {
    Moment moment;
    const auto rest = read_parts(date, cell, moment);
    if (!rest) continue;
    if (rest->empty()) consider(std::string(date));
    for (const std::string_view between : {" ", "T", ", ", "-"}) {
      if (!rest->starts_with(between)) continue;
      for (const std::string& time : times_of(rest->substr(between.size()))) {
        consider(fmt::format("{}{}{}", date, between, time));
      }
    }
  }
  for (const std::string& time : times_of(cell)) {
    if (time.find("UTC") == std::string::npos && !time.ends_with('z')) consider(time);
  }
  return found;
}

std::string with_flags(const std::string& pattern, const std::vector<std::string_view>& cells,
                       int decimals) {
  std::vector<std::string> ways{pattern};
  const auto add_way = [&](const std::string& plain, const std::string& flagged) {
    const std::vector<std::string> before = ways;
    for (std::string way : before) {
      const std::size_t place = way.find(plain);
      if (place == std::string::npos) continue;
      ways.push_back(way.replace(place, plain.size(), flagged));
    }
  };
  for (const std::string letter : {"d", "m", "H", "I"}) add_way("%" + letter, "%-" + letter);
  for (const std::string letter : {"b", "B"}) add_way("%" + letter, "%^" + letter);
  std::string best = pattern;
  std::ptrdiff_t most = -1;
  for (const std::string& way : ways) {
    const auto same = std::count_if(cells.begin(), cells.end(), [&](std::string_view cell) {
      const auto value = read_time(pattern, cell);
      return value && write_time(way, *value, decimals) == cell;
    });
    if (same <= most) continue;
    most = same;
    best = way;
  }
  return best;
}

}  // namespace jeffreys
