#include "webhook/cli/output.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/json_path.h"
#include "webhook/wire/json_text.h"
#include "webhook/wire/yaml.h"

namespace truce {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* kColumns = "custom-columns=";
constexpr const char* kTemplate = "jsonpath=";

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

std::shared_ptr<Form> AddForm(CommandLine& app, const char* own) {
  auto form = std::make_shared<Form>();
  form->output = own;
  std::vector<std::string> words = {"table",  "wide", "json",   "yaml",   "csv",
                                    "ndjson", "name", kColumns, kTemplate};
  if (words.front() != own) words.insert(words.begin(), own);
  app.AddOption("-o,--output", form->output, std::string("Form of the answer; default ") + own)
      .OneOf(words);
  app.AddFlag(
      "--no-headers", [form](bool given) { form->has_head = !given; },
      "Leave out the line of headings");
  app.AddOption("--sort-by", form->sort_by,
                "Column or path to sort by, as since; -since: the last first")
      .Type("COLUMN");
  return form;
}

std::string IdOf(const Json& item) { return TextIn(item, "id"); }

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

std::string AccountText(const Json& resource) {
  std::string account = TextIn(resource, "account");
  if (!account.starts_with('?')) return OneLine(account);
  // ?cluster/group/kind/namespace/name
  const std::size_t name = account.rfind('/');
  return OneLine(name == std::string::npos
                     ? std::string("unknown")
                     : "unknown (ProviderConfig " + account.substr(name + 1) + ")");
}

std::string ObjectText(const Json& parent, const char* name) {
  const auto object = parent.find(name);
  return object == parent.end() || !object->is_object() ? "-" : TextOf(*object);
}

namespace {

// "s3/Bucket/prod-artifacts" of the key "s3/Bucket|aws|||name=prod-artifacts"; a key that says
// more, or otherwise, as it is.
std::string ResourceOfKey(const std::string& key) {
  constexpr std::string_view kName = "|name=";
  const std::size_t type = key.find('|');
  const std::size_t name = key.find(kName);
  if (type == std::string::npos || name == std::string::npos) return key;
  const std::string value = key.substr(name + kName.size());
  if (value.find_first_of("|%") != std::string::npos) return key;
  return key.substr(0, type) + "/" + value;
}

std::string SourceOf(const Json& name) {
  if (name.value("observed", false)) return "status";
  const std::string sort = TextIn(name, "sort");
  if (sort == "assigned") return "external name";
  return sort == "located" ? "fields and account" : "fields";
}

std::string WhatIsAudited(const Json& item) {
  for (const char* member : {"name", "object", "namespace", "group"}) {
    const std::string value = TextIn(item, member);
    if (!value.empty()) return std::string(member) + " " + value;
  }
  return {};
}

std::string TextAt(const Json& item, const std::string& path) {
  std::string out;
  for (const Json* each : ValuesAt(item, path)) {
    out.append(out.empty() ? "" : ", ").append(TextOf(*each));
  }
  return out;
}

std::string CellOf(const Heading& heading, const Json& item) {
  std::string text = TextAt(item, heading.name);
  switch (heading.look) {
    case Look::kPlain: return text;
    case Look::kAccount: return AccountText(item);
    case Look::kOwner: return item.value("redacted", false) ? "(not shown)" : text;
    case Look::kResource: return ResourceOfKey(TextIn(item, "key"));
    case Look::kSource: return SourceOf(item);
    case Look::kAudited: return WhatIsAudited(item);
    case Look::kUntil: {
      const std::string until = TextIn(item, "until");
      return until.empty() ? text : text + " until " + until;
    }
    case Look::kMaker: break;
  }
  return text.empty() ? "configuration" : text;
}

std::string NameOf(const Json& item, std::string_view name) {
  const std::size_t slash = name.find('/');
  std::string first = TextAt(item, std::string(name.substr(0, slash)));
  if (slash == name.npos || first.empty()) return first;
  return first + "/" + NameOf(item, name.substr(slash + 1));
}

// "NAME:.name,NAMESPACE:.root.namespace". Errors: kInvalidArgument.
Result<Headings> ReadColumns(std::string_view text) {
  Headings out;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const std::size_t colon = one.find(':');
    if (colon == one.npos || colon == 0 || colon + 1 == one.size()) {
      return InvalidArgument("custom columns are written as NAME:.name,SINCE:.since");
    }
    out.push_back({std::string(one.substr(colon + 1)), std::string(one.substr(0, colon))});
  }
  return out;
}

// Errors: kInvalidArgument: no item has it.
Result<void> Sort(std::string path, Json& items) {
  const bool last_first = path.starts_with('-');
  if (last_first) path.erase(0, 1);
  const auto has = [&](const Json& item) { return !ValuesAt(item, path).empty(); };
  if (!items.empty() && std::none_of(items.begin(), items.end(), has)) {
    return InvalidArgument("--sort-by: there is no column " + path);
  }
  const auto before = [&](const Json& a, const Json& b) {
    const auto left = ValuesAt(a, path);
    const auto right = ValuesAt(b, path);
    if (left.empty() || right.empty()) return left.size() < right.size();
    if (left[0]->is_number() && right[0]->is_number()) return *left[0] < *right[0];
    return TextOf(*left[0]) < TextOf(*right[0]);
  };
  std::stable_sort(items.begin(), items.end(), [&](const Json& a, const Json& b) {
    return last_first ? before(b, a) : before(a, b);
  });
  return {};
}

char InCapitals(char c) { return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

void PrintColumns(const Form& form, const Headings& headings, const Json& items,
                  std::ostream& out) {
  TableRows rows;
  const bool all = !form.is("table");
  const auto add = [&](const auto& cell_of) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const Heading& each : headings) {
      if (all || !each.wide) row.push_back(cell_of(each));
    }
  };
  if (form.has_head) {
    add([](const Heading& each) {
      std::string title = each.title.empty() ? each.name : each.title;
      if (each.title.empty()) std::transform(title.begin(), title.end(), title.begin(), InCapitals);
      return title;
    });
  }
  for (const Json& item : items) {
    add([&](const Heading& each) { return OrDash(CellOf(each, item)); });
  }
  PrintTable(std::move(rows), out);
}

std::string CsvCell(const std::string& text) {
  const bool is_plain = text.find_first_of(",\"\r\n") == std::string::npos;
  if (is_plain) return text;
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? "\"\"" : std::string(1, c));
  return out + "\"";
}

template <typename CellText>
std::string Csv(const Headings& headings, const CellText& cell) {
  std::string line;
  for (const Heading& each : headings) line += CsvCell(cell(each)) + ",";
  if (!line.empty()) line.back() = '\n';
  return line;
}

}  // namespace

std::string CsvHead(const Headings& headings) {
  return Csv(headings, [](const Heading& each) { return each.name; });
}

std::string CsvLine(const Headings& headings, const Json& item) {
  return Csv(headings, [&](const Heading& each) {
    const auto values = ValuesAt(item, each.name);
    const bool is_member = values.size() == 1;
    return is_member ? TextOf(*values.front(), Objects::kExact) : CellOf(each, item);
  });
}

void PrintTable(TableRows rows, std::ostream& out) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = OneLine(cell);
  }
  out << AlignColumns(rows);
}

void PrintTable(const Headings& headings, const Json& items, std::ostream& out) {
  PrintColumns({}, headings, items, out);
}

void PrintJson(const std::string& json, std::ostream& out) {
  out << DumpIndented(ParseOrderedJson(json)) << "\n";
}

void PrintYaml(const std::string& json, std::ostream& out) {
  out << WriteYaml(NodeOf(ParseOrderedJson(json)), 0);
}

bool PrintData(const Form& form, const Json& json, std::ostream& out) {
  if (form.is("json")) PrintJson(Dump(json), out);
  if (form.is("yaml")) PrintYaml(Dump(json), out);
  return form.is_object();
}

ExitCode PrintList(const Form& form, const Listed& listed, Json items, CommandIo& io) {
  const auto sorted = form.sort_by.empty() ? Result<void>() : Sort(form.sort_by, items);
  if (!sorted.ok()) return Complain(io, sorted.error().message, ExitCode::kUsage);
  const std::string_view output = form.output;
  if (PrintData(form, Json{{"items", items}}, io.out)) return ExitCode::kOk;
  if (form.is("csv")) io.out << CsvHead(listed.headings);
  for (const Json& item : items) {
    if (form.is("csv")) io.out << CsvLine(listed.headings, item);
    if (form.is("ndjson")) io.out << Dump(item) << "\n";
    const std::string name = form.is("name") ? NameOf(item, listed.name) : std::string();
    if (!name.empty()) io.out << OneLine(name) << "\n";
  }
  if (form.is("csv") || form.is("ndjson") || form.is("name")) return ExitCode::kOk;
  if (output.starts_with(kTemplate)) {
    const auto text =
        FillTemplate(output.substr(std::string_view(kTemplate).size()), Json{{"items", items}});
    if (!text.ok()) return Complain(io, text.error().message, ExitCode::kUsage);
    io.out << Lines(text.value());
    return ExitCode::kOk;
  }
  Headings headings = listed.headings;
  if (output.starts_with(kColumns)) {
    auto own = ReadColumns(output.substr(std::string_view(kColumns).size()));
    if (!own.ok()) return Complain(io, own.error().message, ExitCode::kUsage);
    headings = std::move(own).value();
  }
  if (items.empty()) {
    io.err << "Nothing found.\n";
  } else {
    PrintColumns(form, headings, items, io.out);
  }
  return ExitCode::kOk;
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
