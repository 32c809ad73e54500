// Custom columns, templates and --sort-by: paths into JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "webhook/cli/command.h"
#include "webhook/cli/json_path.h"
#include "webhook/cli/output.h"

namespace truce {
namespace json_path_test {

using Json = nlohmann::json;

const Json& Items() {
  static const Json kItems = Json::parse(R"([
    {"name": "b", "count": 10, "root": {"kind": "Bucket", "group": "g.io", "namespace": "n", "name": "x"},
     "tags": ["p", "q"], "open": true},
    {"name": "a", "count": 9, "root": {"kind": "Bucket", "group": "g.io", "namespace": "", "name": "y,z"},
     "tags": [], "open": false}])");
  return kItems;
}

std::string Joined(std::string_view path) {
  std::string out;
  const Json root = {{"items", Items()}};
  for (const Json* each : ValuesAt(root, path)) out += "<" + TextOf(*each) + ">";
  return out;
}

TEST(JsonPath, LeadsToMembersItemsAndAllOfThem) {
  EXPECT_EQ(Joined("items[*].name"), "<b><a>");
  EXPECT_EQ(Joined(".items[1].root.name"), "<y,z>");
  EXPECT_EQ(Joined("$.items[0].tags[*]"), "<p><q>");
  EXPECT_EQ(Joined("items[0]['name']"), "<b>");
  for (const char* nothing :
       {"items[2]", "items[*].none", "items.name", "items[-1]", "items[99999999999]"}) {
    EXPECT_EQ(Joined(nothing), "") << nothing;
  }
}

TEST(JsonPath, TextsShowAnObjectAListAndASwitch) {
  EXPECT_EQ(TextOf(Items()[0]["root"]), "Bucket n/x");
  EXPECT_EQ(TextOf(Items()[1]["root"], Objects::kExact), "Bucket.g.io y,z");
  EXPECT_EQ(TextOf(Items()[0]["tags"]), "p, q");
  EXPECT_EQ(TextOf(Items()[0]["open"]), "yes");
  EXPECT_EQ(TextOf(Json()), "");
}

TEST(JsonPath, FillsATemplate) {
  const Json root = {{"items", Items()}};
  EXPECT_EQ(FillTemplate("{.items[*].name}", root).value(), "b a");
  EXPECT_EQ(FillTemplate(R"({range .items[*]}{.name}={.count}{"\n"}{end}.)", root).value(),
            "b=10\na=9\n.");
  EXPECT_EQ(FillTemplate("{.items[0].open}{.none}", root).value(), "true");
  for (const char* bad : {"{.name", "{range .items[*]}x", R"({"open)"}) {
    EXPECT_FALSE(FillTemplate(bad, root).ok()) << bad;
  }
}

struct Printed {
  ExitCode code = ExitCode::kOk;
  std::string out;
  std::string err;
};
Printed Print(const Form& form, const Json& items = Items()) {
  std::ostringstream out;
  std::ostringstream err;
  CommandIo io{out, err, {}};
  const Listed listed{{{"name", "NAME"}, {"root", "OWNER"}, {"count", "", Look::kPlain, true}},
                      "name/count"};
  const ExitCode code = PrintList(form, listed, items, io);
  return {code, out.str(), err.str()};
}

TEST(PrintList, EachForm) {
  EXPECT_EQ(Print({}).out, "NAME   OWNER\nb      Bucket n/x\na      Bucket y,z\n");
  EXPECT_EQ(Print({.output = "wide", .has_head = false}).out,
            "b   Bucket n/x   10\na   Bucket y,z   9\n");
  EXPECT_EQ(Print({.output = "csv"}).out,
            "name,root,count\nb,Bucket.g.io n/x,10\na,\"Bucket.g.io y,z\",9\n");
  EXPECT_EQ(Print({.output = "name"}).out, "b/10\na/9\n");
  EXPECT_EQ(Print({.output = "custom-columns=N:.name,NS:.root.namespace"}).out,
            "N   NS\nb   n\na   -\n");
  EXPECT_EQ(Print({.output = "jsonpath={.items[*].count}"}).out, "10 9");
  const std::string lines = Print({.output = "ndjson"}).out;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  EXPECT_EQ(Print({}, Json::array()).err, "Nothing found.\n");
  EXPECT_EQ(Print({.output = "json"}, Json::array()).out, "{\n  \"items\": []\n}\n");
}

TEST(PrintList, SortsByAColumnNumbersAsNumbers) {
  EXPECT_EQ(Print({.output = "name", .sort_by = "name"}).out, "a/9\nb/10\n");
  EXPECT_EQ(Print({.output = "name", .sort_by = "-count"}).out, "b/10\na/9\n");
  EXPECT_EQ(Print({.output = "name", .sort_by = "root.name"}).out, "b/10\na/9\n");
}

TEST(PrintList, ComplainsOfWhatItCannotRead) {
  for (const Form& bad :
       {Form{.output = "custom-columns=name"}, Form{.output = "custom-columns=:x"},
        Form{.output = "jsonpath={.x"}, Form{.sort_by = "none"}}) {
    const Printed printed = Print(bad);
    EXPECT_EQ(printed.code, ExitCode::kUsage) << bad.output;
    EXPECT_EQ(printed.out, "");
    EXPECT_TRUE(printed.err.starts_with("truce: ")) << printed.err;
  }
}

}  // namespace json_path_test
}  // namespace truce
