#include "cli/load.h"

#include <cstdio>

#include "jeffreys/input_error.h"

namespace jeffreys::cli {

template <typename T>
From chosen_from(const std::string& text, const TabularDensity<T>& density) {
  if (text.empty()) return density.chosen();
  if (text == "main") return From::main;
  if (!density.proxy()) {
    throw UsageError("--from proxy: this model has no proxy (it was fitted by maximum likelihood)");
  }
  return From::proxy;
}

template From chosen_from(const std::string&, const TabularDensity<float>&);
template From chosen_from(const std::string&, const TabularDensity<double>&);

Table read_table_for(const std::string& path, const Schema& schema) {
  TableOptions options;
  options.text_columns = schema.text_columns();
  return read_table(path, options);
}

void add_from(CLI::App& command, std::string& target) {
  command
      .add_option("--from", target,
                  "main or proxy: which model speaks (default: the one that validation chose)")
      ->check(CLI::IsMember({"main", "proxy"}));
}

void write_result(const Table& table, const std::string& path) {
  if (!path.empty() && path != "-") {
    write_table(path, table);
    return;
  }
  const auto fail = [] {
    throw InputError("standard output", "cannot be written: is the disk full?");
  };
  write_csv(table, [&](std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail();
  });
  if (std::fflush(stdout) != 0) fail();
}

}  // namespace jeffreys::cli
