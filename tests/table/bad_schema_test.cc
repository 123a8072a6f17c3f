// Tables that no schema can be fitted to or that do not fit a schema, and damaged schemas.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "jeffreys/base/input_error.h"
#include "jeffreys/table/table_file.h"
#include "support/scratch_folder.h"
#include "table/tables.h"

namespace jeffreys {
namespace {

using jeffreys::testing::mixed_options;
using jeffreys::testing::mixed_table;
using jeffreys::testing::normal_numbers;
using jeffreys::testing::ScratchTest;
using jeffreys::testing::TableMaker;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Given = std::map<std::string, std::string>;
using Json = nlohmann::json;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

class BadColumns : public ScratchTest {
 protected:
  // The refusal of a table of 12 good rows a,b (b from 1 to 2) and one more, on line 14.
  std::string refusal(const std::string& last, const SchemaOptions& options = {}) const {
    std::string text = "a,b\n";
    for (int i = 0; i < 12; ++i) text += fmt::format("{},{}\n", i * i * 0.37, 1 + i / 11.0);
    const auto name = file("a.csv", text + last + "\n");
    const std::string message = message_of(
        [&] { Schema::fit(read_table(name, {.text_columns = options.categorical}), options); });
    const std::string folder = name.parent_path().string() + "/";
    return message.starts_with(folder) ? message.substr(folder.size()) : message;
  }
};

TEST_F(BadColumns, TextAmongNumbers) {
  EXPECT_EQ(refusal("3,abc"),
            "a.csv:14:2: column \"b\" is numeric but has \"abc\" in 1 cell; correct the cell, or "
            "say that it means a missing one with --na \"abc\", or declare the column with "
            "--categorical b / --ignore b");
  SchemaOptions options;
  options.ignore = {"b"};
  EXPECT_EQ(refusal("3,abc", options), "none");
  options = {};
  options.categorical = {"b"};
  EXPECT_EQ(refusal("3,abc", options), "none");
}

TEST_F(BadColumns, Infinities) {
  for (const std::string cell : {"inf", "-inf", "Infinity", "1e999"}) {
    EXPECT_EQ(refusal(cell + ",1"),
              "a.csv:14:1: column \"a\" has an infinite number; correct the cell, or empty it to "
              "mark it missing");
  }
  EXPECT_EQ(refusal("1,1e308"),
            "a.csv:14:2: column \"b\" has 1e+308, which is too large (beyond 1e+150); correct the "
            "cell or change the unit");
  EXPECT_EQ(refusal("1,1e149"), "none");
}

TEST_F(BadColumns, Bounds) {
  SchemaOptions options;
  options.bounds = {{"b", {1, 2}}};
  EXPECT_EQ(refusal("3,2.5", options),
            "a.csv:14:2: column \"b\" has 2.5, outside its bounds 1 to 2; correct the cell or the "
            "bounds");
  EXPECT_EQ(refusal("3,1.5", options), "none");
  options.categorical = {"b"};
  EXPECT_THAT(refusal("3,1.5", options), HasSubstr("column \"b\" is categorical, so it cannot"));
  options = {};
  options.bounds = {{"b", {2, 1}}};
  EXPECT_THROW(refusal("3,1", options), std::invalid_argument);
}

TEST_F(BadColumns, MissingCells) {
  SchemaOptions options;
  options.missing = Missing::error;
  EXPECT_THAT(refusal("NA,1", options), StartsWith("a.csv:14:1: column \"a\" has a missing cell"));
  EXPECT_EQ(refusal("NA,1"), "none");
}

TEST_F(BadColumns, Integers) {
  SchemaOptions options;
  options.integer = {"b"};
  EXPECT_THAT(refusal("1,2", options),
              StartsWith("a.csv:3:2: column \"b\" is declared as integer but has 1.09"));
}

TEST_F(BadColumns, Names) {
  SchemaOptions options;
  options.condition = {"c"};
  EXPECT_EQ(refusal("1,2", options),
            "a.csv: there is no column \"c\", which is named as condition; the columns are a, b");
  options.condition = {"a"};
  options.ignore = {"a"};
  EXPECT_THROW(refusal("1,2", options), std::invalid_argument);
}

TEST_F(BadColumns, LabelsInAnotherEncoding) {
  std::string text = "a,b\n";
  for (int i = 0; i < 12; ++i) text += fmt::format("{},caf\xe9\n", i);
  EXPECT_THAT(message_of([&] { Schema::fit(read_table(file("a.csv", text)), {}); }),
              HasSubstr("which is not UTF-8; save the file as UTF-8"));
}

TEST(BadSchema, TooLittleData) {
  const auto fit = [](const Table& table, const SchemaOptions& options = {}) {
    return message_of([&] { Schema::fit(table, options); });
  };
  std::vector<double> values = normal_numbers(10, 1);
  EXPECT_EQ(fit(TableMaker().numbers("a", values).table()), "none");
  values[2] = std::nan("");
  EXPECT_EQ(
      fit(TableMaker().numbers("a", values).table(), {.missing = Missing::drop}),
      "t.csv: there are 9 of 10 rows without missing cells; at least 10 are needed. --missing "
      "keep learns from the cells that the others have");
  EXPECT_THAT(fit(TableMaker().numbers("a", {1}).table()), HasSubstr("there is 1 of 1 rows"));
  EXPECT_THAT(fit(TableMaker().numbers("a", std::vector<double>(20, 3)).table()),
              HasSubstr("no column is left to model"));
  SchemaOptions options;
  options.condition = {"a"};
  EXPECT_THAT(fit(TableMaker().numbers("a", normal_numbers(20, 1)).table(), options),
              HasSubstr("no column is left to model"));
}

TEST(BadSchema, TablesOfAnotherForm) {
  SchemaOptions dropping = mixed_options();
  dropping.missing = Missing::drop;
  const Schema schema = Schema::fit(mixed_table(), dropping);
  const auto refusal = [&](const std::function<void(Table&)>& change) {
    Table table = mixed_table();
    change(table);
    return message_of([&] { (void)schema.encode(table); });
  };
  EXPECT_EQ(
      refusal([](Table& table) { table.columns.erase(table.columns.begin()); }),
      "t.csv: there is no column \"plain\"; the model needs the columns plain, colour, count, "
      "share, rounded, positive, given");
  EXPECT_EQ(refusal([](Table& table) { table.columns[1].labels[0] = "violet"; }),
            "t.csv:2:2: column \"colour\" has the label \"violet\", which the model does not know; "
            "it knows blue, green, red. Correct the cell, or fit the model again");
  EXPECT_THAT(refusal([](Table& table) { table.columns[3].numbers[5] = 1.5; }),
              StartsWith("t.csv:7:4: column \"share\" has 1.5, outside its bounds 0 to 1"));
  EXPECT_THAT(refusal([](Table& table) {
                table.columns[0] = table.columns[1];
                table.columns[0].name = "plain";
              }),
              StartsWith("t.csv:2:2: column \"plain\" holds text, \"red\""));
  EXPECT_THAT(refusal([](Table& table) { table.columns[0].numbers.assign(200, std::nan("")); }),
              HasSubstr("every row has a missing cell"));
  EXPECT_THAT(refusal([](Table& table) {
                table.anchors.clear();
                table.columns[3].numbers[5] = -1;
              }),
              StartsWith("t.csv: row 6: column \"share\" has -1"));
}

TEST(BadSchema, Conditions) {
  SchemaOptions options = mixed_options();
  options.condition = {"given", "colour"};
  const Schema schema = Schema::fit(mixed_table(), options);
  const auto refusal = [&](const Given& given) {
    return message_of([&] { (void)schema.encode_conditions(given); });
  };
  EXPECT_EQ(refusal({{"given", "1"}, {"colour", "red"}}), "none");
  EXPECT_EQ(
      refusal({{"given", "1"}}),
      "the condition \"colour\" has no value; give each of them, as in --given colour=VALUE. The "
      "conditions are: colour, given");
  EXPECT_EQ(refusal({{"count", "1"}}),
            "\"count\" is no condition of the model; its conditions are: colour, given");
  EXPECT_THAT(refusal({{"given", "x"}, {"colour", "red"}}), HasSubstr("holds text, \"x\""));
  EXPECT_THAT(refusal({{"given", ""}, {"colour", "red"}}), HasSubstr("a condition needs a value"));
  EXPECT_THAT(refusal({{"given", "1e200"}, {"colour", "red"}}), HasSubstr("too large"));
  EXPECT_THAT(refusal({{"given", "1"}, {"colour", "pink"}}),
              HasSubstr("it knows blue, green, red"));
  EXPECT_THROW((void)schema.decode(Matrix<double>(3, 2)), std::invalid_argument);
  EXPECT_THROW((void)schema.decode(Matrix<double>(3, 5), Matrix<double>(2, 4)),
               std::invalid_argument);
}

TEST(SchemaJson, ComesBackExactly) {
  const Schema schema = Schema::fit(mixed_table(), mixed_options());
  const Schema again = Schema::from_json(schema.to_json(), "m");
  EXPECT_EQ(again, schema);
  EXPECT_EQ(again.to_json(), schema.to_json());
  EXPECT_EQ(again.encode(mixed_table()).x, schema.encode(mixed_table()).x);
}

// Names of rows are no categories.
TEST(NamesOfRows, AreLeftOutOrRefused) {
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back("row " + std::to_string(i));
  const Table table = jeffreys::testing::TableMaker()
                          .text("name", names)
                          .numbers("a", jeffreys::testing::normal_numbers(50, 1))
                          .table();
  const Schema schema = Schema::fit(table, {});
  EXPECT_THAT(schema.feature_names(), ::testing::ElementsAre("a"));
  EXPECT_THAT(
      schema.notes(),
      ::testing::Contains(HasSubstr("Column \"name\" has 50 different labels in 50 rows: taken")));
  EXPECT_EQ(Schema::from_json(schema.to_json(), "m"), schema);
  SchemaOptions declared;
  declared.categorical = {"name"};
  EXPECT_THAT(message_of([&] { Schema::fit(table, declared); }),
              HasSubstr("too many to learn anything about them; leave it out with --ignore name"));
}

class DamagedJson : public ::testing::Test {
 protected:
  std::string refusal(const std::function<void(Json&)>& damage) const {
    Json json = Json::parse(Schema::fit(mixed_table(), mixed_options()).to_json());
    damage(json);
    return message_of([&] { Schema::from_json(json.dump(), "m"); });
  }
};

TEST_F(DamagedJson, IsRefused) {
  EXPECT_EQ(refusal([](Json&) {}), "none");
  using Damage = std::pair<const char*, std::function<void(Json&)>>;
  for (const auto& [problem, damage] : std::vector<Damage>{
           {"lacks missing", [](Json& j) { j.erase("missing"); }},
           {"list in columns", [](Json& j) { j["columns"] = 3; }},
           {"has no feature", [](Json& j) { j["columns"] = Json::array(); }},
           {"column 1 is not an object", [](Json& j) { j["columns"][0] = nullptr; }},
           {"column 1 lacks scale", [](Json& j) { j["columns"][0].erase("scale"); }},
           {"scale that is not positive", [](Json& j) { j["columns"][0]["scale"] = 0; }},
           {"no number in mean", [](Json& j) { j["columns"][0]["mean"] = nullptr; }},
           {"no number in mean", [](Json& j) { j["columns"][0]["mean"] = "1"; }},
           {"unknown role", [](Json& j) { j["columns"][0]["role"] = "hero"; }},
           {"contradict", [](Json& j) { j["columns"][0]["kind"] = "ignored"; }},
           {"not categorical, or none", [](Json& j) { j["columns"][0]["kind"] = "categorical"; }},
           {"not sorted",
            [](Json& j) {
              j["columns"][1]["labels"] = {"b", "a"};
            }},
           {"two that are equal",
            [](Json& j) {
              j["columns"][1]["labels"] = {"a", "a"};
            }},
           {"else than text",
            [](Json& j) {
              j["columns"][1]["labels"] = {1, 2};
            }},
           {"never seen", [](Json& j) { j["columns"][1]["unseen"] = 0; }},
           {"atoms where none belong", [](Json& j) { j["columns"][1]["atoms"] = {1.5}; }},
           {"finite numbers in atoms", [](Json& j) { j["columns"][0]["atoms"] = {"a"}; }},
           {"shape that does not fit",
            [](Json& j) {
              j["columns"][0]["shape"] = {{"power", 1}, {"tail", 1}, {"scale", 1}};
            }},
           {"shape that does not fit",
            [](Json& j) {
              j["columns"][3]["shape"] = {{"power", 1}, {"tail", 0}, {"scale", 1}};
            }},
           {"negative resolution", [](Json& j) { j["columns"][2]["noise"] = -1; }},
           {"leave nothing between", [](Json& j) { j["columns"][3]["upper"] = -1; }},
           {"no nudge", [](Json& j) { j["columns"][3]["nudge"] = 0; }},
           {"same name", [](Json& j) { j["columns"][3]["name"] = "plain"; }},
           {"whole number in copy_of", [](Json& j) { j["columns"][0]["copy_of"] = -1; }},
           {"not there",
            [](Json& j) {
              j["columns"][0]["role"] = "copy";
              j["columns"][0]["copy_of"] = 99;
            }},
           {"not in the model",
            [](Json& j) {
              j["columns"][0]["role"] = "copy";
              j["columns"][0]["copy_of"] = 0;
            }},
           {"version 5", [](Json& j) { j["version"] = 5; }},
       }) {
    EXPECT_THAT(refusal(damage), HasSubstr(problem));
  }
}

TEST(SchemaJson, RefusesOtherText) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("\xff\xfe"),
        std::string(100'000, '['), std::string("{\"version\": 1e999}")}) {
    EXPECT_THAT(message_of([&] { Schema::from_json(text, "m"); }), StartsWith("m: the schema is"));
  }
}

}  // namespace
}  // namespace jeffreys
