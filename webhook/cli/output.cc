#include "webhook/cli/output.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/wire/json_text.h"
#include "webhook/wire/yaml.h"

namespace truce {
namespace {

using OrderedJson = nlohmann::ordered_json;

YamlNode NodeOf(const OrderedJson& json) {
  YamlNode node;
  if (json.is_object()) {
    node.kind = YamlNode::Kind::kMapping;
    for (const auto& [name, value] : json.items()) {
      node.keys.emplace_back();
      node.keys.back().text = name;
      node.children.push_back(NodeOf(value));
    }
  } else if (json.is_array()) {
    node.kind = YamlNode::Kind::kSequence;
    for (const OrderedJson& each : json) node.children.push_back(NodeOf(each));
  } else {
    node.kind = YamlNode::Kind::kScalar;
    node.quoted = json.is_string();
    node.scalar = json.is_string() ? json.get<std::string>() : json.dump();
  }
  return node;
}

}  // namespace

std::string IdOf(const nlohmann::json& item) { return TextIn(item, "id"); }

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

std::shared_ptr<std::string> AddOutputFlag(CommandLine& app) {
  auto output = std::make_shared<std::string>("table");
  app.AddOption("-o,--output", *output, "Form of the answer; default table")
      .Type("table|wide|json|yaml|name")
      .OneOf({"table", "wide", "json", "yaml", "name"});
  return output;
}

std::shared_ptr<bool> AddNoHeadersFlag(CommandLine& app) {
  auto has_head = std::make_shared<bool>(true);
  app.AddFlag(
      "--no-headers", [has_head](bool given) { *has_head = !given; },
      "Leave out the line of headings");
  return has_head;
}

TableRows WithHead(TableRows rows, bool has_head) {
  if (!has_head && !rows.empty()) rows.erase(rows.begin());
  return rows;
}

void PrintTable(TableRows rows, std::ostream& out) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = OneLine(cell);
  }
  out << AlignColumns(rows);
}

void PrintJson(const std::string& json, std::ostream& out) {
  out << DumpIndented(ParseOrderedJson(json)) << "\n";
}

void PrintYaml(const std::string& json, std::ostream& out) {
  out << WriteYaml(NodeOf(ParseOrderedJson(json)), 0);
}

bool PrintData(const std::string& output, const nlohmann::json& json, std::ostream& out) {
  if (output == "json") PrintJson(Dump(json), out);
  if (output == "yaml") PrintYaml(Dump(json), out);
  return output == "json" || output == "yaml";
}

bool PrintNames(const std::string& output, const nlohmann::json& items,
                std::string (*name_of)(const nlohmann::json&), std::ostream& out) {
  if (output != "name") return false;
  for (const nlohmann::json& item : items) {
    const std::string name = name_of(item);
    if (!name.empty()) out << OneLine(name) << "\n";
  }
  return true;
}

void PrintList(const std::string& output, const nlohmann::json& items, const TableRows& rows,
               CommandIo& io) {
  if (PrintData(output, nlohmann::json{{"items", items}}, io.out)) return;
  if (PrintNames(output, items, &IdOf, io.out)) return;
  if (items.empty()) {
    io.err << "Nothing found.\n";
    return;
  }
  PrintTable(rows, io.out);
}

void Progress::Show(std::size_t count) {
  if (!io_.err_is_terminal) return;
  io_.err << "\r" << count << " " << what_ << " …" << std::flush;
  shown_ = true;
}

Progress::~Progress() {
  constexpr const char* kEraseLine = "\r\x1b[K";
  if (shown_) io_.err << kEraseLine << std::flush;
}

}  // namespace truce
