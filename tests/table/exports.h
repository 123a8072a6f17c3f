// Tables as common programs export them.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "table/time_pattern.h"

namespace jeffreys::testing {

struct Export {
  std::string program;
  std::string text;
};

// Values of row i that look drawn, and are the same everywhere.
struct ExportRow {
  int i = 0;

  [[nodiscard]] double wave(int k) const {
    const double turn = 0.61803398875 * (i + 1) * k + 0.1 * k;
    return turn - std::floor(turn);
  }
  [[nodiscard]] double amount() const { return std::round(2000 * wave(1) * wave(2) * 100) / 100; }
  [[nodiscard]] double share() const { return std::round(1000 * wave(3)) / 10; }
  [[nodiscard]] double measure() const { return std::round(1e4 * (wave(5) + wave(7))) / 1e4; }
  [[nodiscard]] int count() const { return static_cast<int>(12 * wave(11)); }
  [[nodiscard]] std::string word() const {
    return std::vector<std::string>{"north", "south", "west"}[static_cast<std::size_t>(i * i % 3)];
  }
  [[nodiscard]] std::string time(const std::string& pattern, int decimals = 0) const {
    const double days = 18600 + std::floor(900 * wave(13));
    const double seconds = std::floor(86400 * wave(17));
    switch (unit_of_pattern(pattern)) {
      case Unit::day: return write_time(pattern, days, 0);
      case Unit::month: return write_time(pattern, std::floor(200 + 300 * wave(13)), 0);
      default:
        return write_time(pattern, (has_date(pattern) ? 86400 * days : 0) + seconds + 0.125,
                          decimals);
    }
  }
  // 1234.5 as 1.234,50 and the like.
  [[nodiscard]] std::string number(double value, int decimals, char decimal = '.',
                                   const std::string& grouping = "") const {
    const Notation notation{
        .decimal = decimal, .grouping = grouping, .decimals = decimals, .fixed = decimals > 0};
    return notation.write(value);
  }
};

inline std::string lines_of(const std::string& head,
                            const std::function<std::string(const ExportRow&)>& line) {
  constexpr int kExportRows = 60;
  std::string text = head;
  for (int i = 0; i < kExportRows; ++i) text += line({i}) + "\n";
  return text;
}

inline std::vector<Export> spreadsheet_exports() {
  using R = const ExportRow&;
  return {
      {"Excel, United States",
       lines_of("Date,Region,Amount,Share\n",
                [](R r) {
                  return fmt::format("{},{},\"${}\",{}%", r.time("%-m/%-d/%Y"), r.word(),
                                     r.number(r.amount(), 2, '.', ","), r.number(r.share(), 1));
                })},
      {"Excel, Germany", lines_of("Datum;Gebiet;Betrag;Anteil\n",
                                  [](R r) {
                                    return fmt::format("{};{};{} €;{} %", r.time("%d.%m.%Y"),
                                                       r.word(), r.number(r.amount(), 2, ',', "."),
                                                       r.number(r.share(), 1, ','));
                                  })},
      {"Excel, France", lines_of("Date;Région;Montant;Part\n",
                                 [](R r) {
                                   return fmt::format("{};{};{};{}%", r.time("%d/%m/%Y"), r.word(),
                                                      r.number(r.amount(), 2, ',', "\u202f"),
                                                      r.number(r.share(), 1, ','));
                                 })},
      {"Excel, Switzerland", lines_of("Datum;Gebiet;Betrag\n",
                                      [](R r) {
                                        return fmt::format("{};{};CHF {}", r.time("%d.%m.%Y"),
                                                           r.word(),
                                                           r.number(r.amount(), 2, '.', "'"));
                                      })},
      {"Excel, United Kingdom", lines_of("Date,Region,Amount\n",
                                         [](R r) {
                                           return fmt::format("{},{},\"£{}\"", r.time("%d/%m/%Y"),
                                                              r.word(),
                                                              r.number(r.amount(), 2, '.', ","));
                                         })},
      {"Excel, Sweden", lines_of("Datum;Belopp\n",
                                 [](R r) {
                                   return fmt::format("{};{} kr", r.time("%Y-%m-%d"),
                                                      r.number(r.amount(), 2, ',', "\u00a0"));
                                 })},
      {"Excel with a line for itself",
       lines_of(
           "sep=;\nx;y\n",
           [](R r) { return fmt::format("{};{}", r.number(r.measure(), 4, ','), r.count()); })},
      {"Excel, accounting",
       lines_of("Region,Result\n",
                [](R r) {
                  const double result = r.amount() - 500;
                  const std::string size = r.number(std::abs(result), 2, '.', ",");
                  return fmt::format("{},\"{}\"", r.word(),
                                     result < 0 ? "($" + size + ")" : "$" + size);
                })},
      {"Excel with error values",
       lines_of("ratio,count\n",
                [](R r) {
                  return r.i % 9 == 4 ? fmt::format("#DIV/0!,{}", r.count())
                                      : fmt::format("{},{}", r.number(r.measure(), 4), r.count());
                })},
      {"LibreOffice, quoted text",
       lines_of("\"Region\",\"Value\"\n",
                [](R r) { return fmt::format("\"{}\",{}", r.word(), r.measure()); })},
      {"LibreOffice, Germany, tabs",
       lines_of("Datum\tWert\n",
                [](R r) { return r.time("%d.%m.%y") + "\t" + r.number(r.measure(), 4, ','); })},
      {"Google Sheets", lines_of("Timestamp,Rating\n",
                                 [](R r) {
                                   return fmt::format("{},{}", r.time("%-m/%-d/%Y %-H:%M:%S"),
                                                      r.count());
                                 })},
      {"Google Forms", lines_of("Timestamp,Answer\n",
                                [](R r) {
                                  return fmt::format("{},{}", r.time("%Y/%m/%d %-I:%M:%S %p"),
                                                     r.word());
                                })},
      {"A wide table of years", lines_of("region,2019,2020,2021\n", [](R r) {
         return fmt::format("{},{},{},{}", r.word(), r.number(r.amount(), 2), r.count(),
                            r.number(r.measure(), 4));
       })}};
}

inline std::vector<Export> program_exports() {
  using R = const ExportRow&;
  return {
      {"R, write.csv", lines_of("\"\",\"x\",\"g\"\n",
                                [](R r) {
                                  return fmt::format("\"{}\",{},\"{}\"", r.i + 1, r.measure(),
                                                     r.word());
                                })},
      {"R, write.table with commas", lines_of("\"x\",\"g\"\n",
                                              [](R r) {
                                                return fmt::format("\"{}\",{},\"{}\"", r.i + 1,
                                                                   r.measure(), r.word());
                                              })},
      {"R, write.csv2", lines_of("\"x\";\"n\"\n",
                                 [](R r) {
                                   return r.i % 10 == 3
                                              ? fmt::format("NA;{}", r.count())
                                              : fmt::format("{};{}", r.number(r.measure(), 4, ','),
                                                            r.count());
                                 })},
      {"readr", lines_of("when,x\n",
                         [](R r) {
                           return fmt::format("{},{}", r.time("%Y-%m-%dT%H:%M:%SZ"), r.measure());
                         })},
      {"pandas with its index",
       lines_of(",x,n\n",
                [](R r) { return fmt::format("{},{},{}.0", r.i, r.measure(), r.count()); })},
      {"pandas with times",
       lines_of("when,x\n",
                [](R r) {
                  return r.i % 11 == 5
                             ? fmt::format("NaT,{}", r.measure())
                             : fmt::format("{},{}", r.time("%Y-%m-%d %H:%M:%S"), r.measure());
                })},
      {"NumPy, savetxt",
       lines_of("# x, y\n",
                [](R r) { return fmt::format("{:.18e},{:.18e}", r.wave(3), r.wave(5)); })},
      {"SQLite, list mode",
       lines_of("id|region|x\n",
                [](R r) { return fmt::format("{}|{}|{}", r.i + 1, r.word(), r.measure()); })},
      {"PostgreSQL, COPY", lines_of("at,ok,x\n",
                                    [](R r) {
                                      return fmt::format("{},{},{}", r.time("%Y-%m-%d %H:%M:%S+00"),
                                                         r.count() % 2 ? "t" : "f", r.measure());
                                    })},
      {"MySQL, tabs", lines_of("region\tx\n",
                               [](R r) {
                                 return fmt::format(
                                     "{}\t{}", r.word(),
                                     r.i % 8 == 2 ? "NULL" : r.number(r.measure(), 4));
                               })},
      {"SAS, PROC EXPORT", lines_of("date,x\n",
                                    [](R r) {
                                      return fmt::format(
                                          "{},{}", r.time("%d%^b%Y"),
                                          r.i % 7 == 1 ? "." : r.number(r.measure(), 4));
                                    })},
      {"Julia, CSV.jl", lines_of("month,x\n",
                                 [](R r) {
                                   return fmt::format(
                                       "{},{}", r.time("%Y-%m"),
                                       r.i % 12 == 6 ? "missing" : r.number(r.measure(), 4));
                                 })},
      {"MATLAB, writetable", lines_of("Time,Value\n",
                                      [](R r) {
                                        return fmt::format(
                                            "{},{}", r.time("%d-%b-%Y %H:%M:%S"),
                                            r.i % 13 == 6 ? "NaN" : r.number(r.measure(), 4));
                                      })},
      {"A data logger", lines_of("Logger 7\nSerial,20431\n\nTime,Temp,Volt\nhh:mm,°C,mV\n",
                                 [](R r) {
                                   return fmt::format("{},{},{}", r.time("%H:%M"),
                                                      r.number(r.share() / 4, 1), r.count());
                                 })},
      {"An oscilloscope", lines_of("Model,DS1\nSource,CH1\nPoints,60\ns,V,W\n",
                                   [](R r) {
                                     return fmt::format("{:.3e},{:.4e},{:.2e}", 1e-6 * r.i,
                                                        r.wave(3) - 0.5, r.wave(5));
                                   })},
      {"A balance", lines_of("No;Weight;At\n",
                             [](R r) {
                               return fmt::format("{:04};{} g;{}", 7 * r.count() + 3,
                                                  r.number(r.measure(), 4), r.time("%H:%M:%S"));
                             })},
      {"A lab system, Russia", lines_of("Дата;Проба;Доля\n", [](R r) {
         return fmt::format("{};{};{}", r.time("%d.%m.%Y %H:%M"), r.word(),
                            r.i % 9 == 0 ? "-" : r.number(r.share(), 1, ','));
       })}};
}

}  // namespace jeffreys::testing
