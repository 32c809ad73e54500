// CloudFormation templates, JSON or YAML, with their functions in both spellings (`!Ref`, `Ref:`).
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "registry/base/counted.h"
#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/imports/planned.h"
#include "webhook/imports/readers.h"

namespace truce {
namespace {

constexpr int kNestedMax = 8;
constexpr std::size_t kTemplatesMax = 1000;
constexpr int kCallsMax = 64;  // functions within functions
constexpr std::size_t kNameMax = 1024;
constexpr std::size_t kAddressBytesMax = 512;

// A value of a template, resolved.
struct Found {
  enum class State {
    kText,
    kNone,     // not there, or AWS::NoValue
    kMade,     // has a part that AWS makes
    kSibling,  // what AWS tells of a resource of this template
    kUnknown,  // `text` says why
  };
  State state = State::kNone;
  std::string text;
  YamlLocation at;
  std::string remedy = {};  // of what is not known
};

Found Text(std::string text, const YamlNode& node) {
  return {Found::State::kText, std::move(text), node.location};
}
Found Made(const YamlNode& node) { return {Found::State::kMade, {}, node.location}; }
Found Unknown(std::string why, const YamlNode& node, std::string remedy = {}) {
  return {Found::State::kUnknown, std::move(why), node.location, std::move(remedy)};
}

bool IsMapping(const YamlNode* node) {
  return node != nullptr && node->kind == YamlNode::Kind::kMapping;
}
const YamlNode* ChildOf(const YamlNode* node, std::string_view key) {
  return IsMapping(node) ? node->Find(key) : nullptr;
}
std::string ScalarOf(const YamlNode* node) {
  return node == nullptr || node->kind != YamlNode::Kind::kScalar ? std::string() : node->scalar;
}

// A function: "Ref", "Condition" or "Sub" of "Fn::Sub", and its argument.
struct Call {
  std::string name;
  const YamlNode* argument = nullptr;
};

// Of `!Sub x`, {Ref: x} and {"Fn::Sub": x}. Nothing: `node` is a plain value.
std::optional<Call> CallOf(const YamlNode& node) {
  if (node.tag.size() > 1) return Call{node.tag.substr(1), &node};
  if (node.kind != YamlNode::Kind::kMapping || node.keys.size() != 1) return std::nullopt;
  const std::string& key = node.keys.front().text;
  if (key == "Ref" || key == "Condition") return Call{key, node.children.data()};
  if (!key.starts_with("Fn::")) return std::nullopt;
  return Call{key.substr(4), node.children.data()};
}

// The elements of a function's argument.
const std::vector<YamlNode>& ItemsOf(const YamlNode& node) {
  static const std::vector<YamlNode> kNone;
  return node.kind == YamlNode::Kind::kSequence ? node.children : kNone;
}

// One template with what it is given.
class Template {
 public:
  Template(const YamlNode& root, const PlanDefaults& given) : root_(root), given_(given) {}

  // nullopt: nobody can tell.
  std::optional<bool> Holds(std::string_view condition, int depth) const {
    const YamlNode* const node = ChildOf(ChildOf(&root_, "Conditions"), condition);
    return node == nullptr || depth > kCallsMax ? std::nullopt : IsTrue(*node, depth + 1);
  }

  // `in_part`: the value is alone, as a part that may refer to its parent: a sibling counts by its
  // name, whatever Ref gives of it.
  Found Resolve(const YamlNode* node, bool in_part, int depth = 0) const {
    if (node == nullptr) return {};
    if (depth > kCallsMax) return Unknown("its functions nest too deep", *node);
    const std::optional<Call> call = CallOf(*node);
    if (!call) {
      if (node->kind == YamlNode::Kind::kScalar) return Text(node->scalar, *node);
      return Unknown("it is no text", *node);
    }
    const YamlNode& argument = *call->argument;
    if (call->name == "Ref") return Ref(ScalarOf(&argument), *node, in_part, depth);
    if (call->name == "GetAtt") return GetAtt(argument, *node, in_part, depth);
    if (call->name == "Sub") return Sub(argument, *node, depth);
    if (call->name == "Join") return Join(argument, *node, depth);
    if (call->name == "Select") return Select(argument, *node, in_part, depth);
    if (call->name == "FindInMap") return FindInMap(argument, *node, depth);
    if (call->name == "If") return If(argument, *node, in_part, depth);
    return Unknown("Fn::" + OneLine(call->name, 64) + " is resolved by CloudFormation alone",
                   *node);
  }

  // The elements of a list; nothing: it is none that can be read here.
  std::optional<std::vector<YamlNode>> Elements(const YamlNode* node, int depth = 0) const {
    if (node == nullptr || depth > kCallsMax) return std::nullopt;
    const std::optional<Call> call = CallOf(*node);
    if (!call && node->kind == YamlNode::Kind::kSequence) return node->children;
    if (!call) return std::nullopt;
    const YamlNode& argument = *call->argument;
    if (call->name == "Split") {
      const auto& list = ItemsOf(argument);
      if (list.size() != 2) return std::nullopt;
      const Found mark = Resolve(list.data(), false, depth + 1);
      const Found whole = Resolve(&list[1], false, depth + 1);
      const bool is_text = mark.state == Found::State::kText && whole.state == Found::State::kText;
      if (!is_text || mark.text.empty()) return std::nullopt;
      return Pieces(whole.text, mark.text, *node);
    }
    if (call->name == "Ref") {
      const Found text = Resolve(node, false, depth + 1);
      const YamlNode* const parameter = ChildOf(ChildOf(&root_, "Parameters"), ScalarOf(&argument));
      const std::string type = ScalarOf(ChildOf(parameter, "Type"));
      const bool is_list = type == "CommaDelimitedList" || type.starts_with("List<");
      if (!is_list || text.state != Found::State::kText) return std::nullopt;
      return Pieces(text.text, ",", *node);
    }
    if (call->name == "If") {
      if (const YamlNode* const branch = BranchOf(argument, depth)) {
        return Elements(branch, depth + 1);
      }
    }
    return std::nullopt;
  }

  const PlanDefaults& given() const { return given_; }

  // The first of `sources` that has a value: below Properties of `resource`, or of `element`.
  Found FromSources(const std::vector<std::string_view>& sources, const YamlNode& resource,
                    const YamlNode* element, int depth = 0) const {
    for (std::string_view source : sources) {
      if (source.starts_with('"')) {
        return Text(std::string(source.substr(1, source.size() - 2)), resource);
      }
      const YamlNode* node = ChildOf(&resource, "Properties");
      if (source == "each") {
        node = element;
        source = {};
      } else if (source.starts_with("each.")) {
        node = element;
        source.remove_prefix(5);
      }
      while (!source.empty()) node = ChildOf(node, TakeUntil(source, '.'));
      Found found = Resolve(node, true, depth);
      if (found.state == Found::State::kText &&
          found.text.find("{{resolve:") != std::string::npos) {
        return Unknown("a dynamic reference is resolved by CloudFormation alone", *node);
      }
      if (found.state != Found::State::kNone) return found;
    }
    return {};
  }

 private:
  static std::vector<YamlNode> Pieces(std::string_view text, std::string_view mark,
                                      const YamlNode& at) {
    std::vector<YamlNode> out;
    while (true) {
      const std::size_t end = text.find(mark);
      out.push_back(YamlNode::Scalar(std::string(Trimmed(text.substr(0, end))), true));
      out.back().location = at.location;
      if (end == std::string_view::npos) return out;
      text.remove_prefix(end + mark.size());
    }
  }

  Found Ref(const std::string& name, const YamlNode& at, bool in_part, int depth) const {
    const auto given = given_.parameters.find(name);
    if (given != given_.parameters.end()) return Text(given->second, at);
    if (name == "AWS::NoValue") return {};
    if (name.starts_with("AWS::")) return Pseudo(name, at);
    if (const YamlNode* const parameter = ChildOf(ChildOf(&root_, "Parameters"), name)) {
      const YamlNode* const otherwise = ChildOf(parameter, "Default");
      if (ScalarOf(ChildOf(parameter, "Type")).starts_with("AWS::SSM::")) {
        return Unknown("parameter " + name + " is read from SSM", at, Give(name));
      }
      if (otherwise != nullptr && otherwise->kind == YamlNode::Kind::kScalar) {
        return Text(otherwise->scalar, at);
      }
      return Unknown("parameter " + name + " has no value", at, Give(name));
    }
    const YamlNode* const sibling = ChildOf(ChildOf(&root_, "Resources"), name);
    if (sibling == nullptr) {
      return Unknown("it names " + OneLine(name, 128) +
                         ", which is no parameter and no resource of the template",
                     at);
    }
    const CloudFormationType* const type =
        FindCloudFormationType(ScalarOf(ChildOf(sibling, "Type")));
    if (type != nullptr && type->parts.empty()) return Made(at);
    if (type == nullptr || !type->each.empty() || type->parts.size() != 1) {
      return {Found::State::kSibling, {}, at.location};
    }
    Found own = FromSources(type->parts.front().sources, *sibling, nullptr, depth + 1);
    if (own.state == Found::State::kNone) return Made(at);
    if (!type->ref_is_name && !in_part && own.state != Found::State::kMade) {
      own = {Found::State::kSibling, {}, at.location};
    }
    own.at = at.location;
    return own;
  }

  static std::string Give(const std::string& parameter) {
    return "Give it with --parameter " + OneLine(parameter, 64) + "=…";
  }

  Found Pseudo(const std::string& name, const YamlNode& at) const {
    const std::string_view region = given_.region;
    const bool is_china = region.starts_with("cn-");
    if (name == "AWS::Region" && !region.empty()) return Text(given_.region, at);
    if (name == "AWS::AccountId" && !given_.account.empty()) return Text(given_.account, at);
    if (name == "AWS::Partition" && !region.empty()) {
      const bool is_gov = region.starts_with("us-gov-");
      return Text(is_china ? "aws-cn" : is_gov ? "aws-us-gov" : "aws", at);
    }
    if (name == "AWS::URLSuffix" && !region.empty()) {
      return Text(is_china ? "amazonaws.com.cn" : "amazonaws.com", at);
    }
    if (name == "AWS::Region" || name == "AWS::Partition" || name == "AWS::URLSuffix") {
      return Unknown(name + " is not known", at, "Name it with --region");
    }
    if (name == "AWS::AccountId") {
      return Unknown(name + " is not known", at, "Name it with --account");
    }
    return Unknown(OneLine(name, 64) + " is not known", at, Give(name));
  }

  // An attribute of a sibling: its name where that is as good (an ARN of a parent). Of those
  // that AWS makes nobody else has the ARN; others, as a zone, may be anybody's.
  Found GetAtt(const YamlNode& argument, const YamlNode& at, bool in_part, int depth) const {
    const auto& list = ItemsOf(argument);
    const std::string whole = list.empty() ? ScalarOf(&argument) : ScalarOf(list.data());
    const std::string name = whole.substr(0, whole.find('.'));
    const bool is_arn = list.size() == 2 ? ScalarOf(&list[1]) == "Arn" : whole.ends_with(".Arn");
    Found own = Ref(name, at, in_part, depth);
    const bool is_there = ChildOf(ChildOf(&root_, "Resources"), name) != nullptr;
    if (!is_there || in_part || (is_arn && own.state == Found::State::kMade)) return own;
    return {Found::State::kSibling, {}, at.location};
  }

  Found Sub(const YamlNode& argument, const YamlNode& at, int depth) const {
    const auto& list = ItemsOf(argument);
    const YamlNode* const values = list.size() == 2 ? &list[1] : nullptr;
    const std::string form = list.empty() ? ScalarOf(&argument) : ScalarOf(list.data());
    std::string out;
    std::string_view rest = form;
    while (!rest.empty()) {
      const std::size_t begin = rest.find("${");
      out += rest.substr(0, begin);
      if (begin == std::string_view::npos) break;
      rest.remove_prefix(begin + 2);
      const std::string name(Trimmed(TakeUntil(rest, '}')));
      if (name.starts_with('!')) {  // "${!x}" means "${x}" as text
        out.append("${").append(name.substr(1)).append("}");
        continue;
      }
      Found part;
      if (const YamlNode* const own = ChildOf(values, name)) {
        part = Resolve(own, false, depth + 1);
      } else if (name.find('.') == std::string::npos) {
        part = Ref(name, at, false, depth + 1);
      } else {
        part = GetAtt(YamlNode::Scalar(name, true), at, false, depth + 1);
      }
      if (part.state == Found::State::kSibling) return MadeOfSibling(name, at);
      if (part.state != Found::State::kText) return part;
      out += part.text;
      if (out.size() > kNameMax) return Unknown("it is longer than any name", at);
    }
    return Text(std::move(out), at);
  }

  static Found MadeOfSibling(const std::string& name, const YamlNode& at) {
    return Unknown("it is made of " + OneLine(name, 128) +
                       ", which CloudFormation knows when it has made that",
                   at);
  }

  Found Join(const YamlNode& argument, const YamlNode& at, int depth) const {
    const auto& list = ItemsOf(argument);
    if (list.size() != 2) return Unknown("Fn::Join takes a text and a list", at);
    const std::optional<std::vector<YamlNode>> elements = Elements(&list[1], depth + 1);
    if (!elements) return Unknown("the list of Fn::Join is known to CloudFormation alone", at);
    std::string out;
    bool is_first = true;
    for (const YamlNode& each : *elements) {
      Found part = Resolve(&each, false, depth + 1);
      if (part.state == Found::State::kNone) continue;
      if (part.state == Found::State::kSibling) return MadeOfSibling("another resource", at);
      if (part.state != Found::State::kText) return part;
      if (!is_first) out += ScalarOf(list.data());
      is_first = false;
      out += part.text;
      if (out.size() > kNameMax) return Unknown("it is longer than any name", at);
    }
    return Text(std::move(out), at);
  }

  Found Select(const YamlNode& argument, const YamlNode& at, bool in_part, int depth) const {
    const auto& list = ItemsOf(argument);
    if (list.size() != 2) return Unknown("Fn::Select takes an index and a list", at);
    const Found index = Resolve(list.data(), false, depth + 1);
    const std::optional<std::vector<YamlNode>> elements = Elements(&list[1], depth + 1);
    const bool is_index = index.state == Found::State::kText && !index.text.empty() &&
                          index.text.size() < 4 && AllDigits(index.text);
    if (!elements || !is_index) {
      return Unknown("the list of Fn::Select is known to CloudFormation alone", at);
    }
    const auto which = static_cast<std::size_t>(std::stoi(index.text));
    if (which >= elements->size()) return Unknown("Fn::Select names no element of its list", at);
    return Resolve(&(*elements)[which], in_part, depth + 1);
  }

  Found FindInMap(const YamlNode& argument, const YamlNode& at, int depth) const {
    const YamlNode* node = ChildOf(&root_, "Mappings");
    const auto& keys = ItemsOf(argument);
    for (std::size_t i = 0; i < 3 && i < keys.size(); ++i) {
      Found key = Resolve(&keys[i], false, depth + 1);
      if (key.state != Found::State::kText) return key;
      node = ChildOf(node, key.text);
    }
    if (keys.size() < 3 || node == nullptr) {
      const YamlNode* const otherwise =
          keys.size() > 3 ? ChildOf(&keys[3], "DefaultValue") : nullptr;
      if (otherwise != nullptr) return Resolve(otherwise, false, depth + 1);
      return Unknown("Fn::FindInMap finds nothing in Mappings", at);
    }
    return Resolve(node, false, depth + 1);
  }

  // The branch that is taken; null: nobody can tell.
  const YamlNode* BranchOf(const YamlNode& argument, int depth) const {
    const auto& list = ItemsOf(argument);
    if (list.size() != 3) return nullptr;
    const std::optional<bool> holds = Holds(ScalarOf(list.data()), depth);
    return !holds ? nullptr : &list[*holds ? 1 : 2];
  }

  Found If(const YamlNode& argument, const YamlNode& at, bool in_part, int depth) const {
    if (const YamlNode* const branch = BranchOf(argument, depth)) {
      return Resolve(branch, in_part, depth + 1);
    }
    return Unknown("the condition of its Fn::If is not known", at);
  }

  std::optional<bool> IsTrue(const YamlNode& node, int depth) const {
    const std::optional<Call> call = CallOf(node);
    if (!call || depth > kCallsMax) return std::nullopt;
    const YamlNode& argument = *call->argument;
    const auto& list = ItemsOf(argument);
    if (call->name == "Condition") return Holds(ScalarOf(&argument), depth);
    if (call->name == "Not" && list.size() == 1) {
      const std::optional<bool> inner = IsTrue(list.front(), depth + 1);
      return inner ? std::optional<bool>(!*inner) : std::nullopt;
    }
    if (call->name == "Equals" && list.size() == 2) {
      const Found a = Resolve(list.data(), false, depth + 1);
      const Found b = Resolve(&list[1], false, depth + 1);
      if (a.state != Found::State::kText || b.state != Found::State::kText) return std::nullopt;
      return a.text == b.text;
    }
    const bool is_and = call->name == "And";
    if (!is_and && call->name != "Or") return std::nullopt;
    bool all_known = true;
    for (const YamlNode& each : list) {
      const std::optional<bool> one = IsTrue(each, depth + 1);
      if (one && *one != is_and) return !is_and;
      all_known = all_known && one;
    }
    return all_known ? std::optional<bool>(is_and) : std::nullopt;
  }

  const YamlNode& root_;
  const PlanDefaults& given_;
};

class TemplateReader {
 public:
  TemplateReader(const Catalogue& catalogue, const TemplateFile& file)
      : catalogue_(catalogue), file_(file) {}

  Result<void> Read(const YamlNode& root, const PlanDefaults& given, const std::string& prefix,
                    int depth) {
    if (++templates_ > kTemplatesMax) return InvalidArgument("nests more than 1,000 templates");
    const YamlNode* const resources = root.Find("Resources");
    if (!IsMapping(resources)) {
      return InvalidArgument(std::to_string(root.location.line) + ": Resources is no mapping");
    }
    if (const YamlNode* const transform = root.Find("Transform")) {
      const std::string name = ScalarOf(transform);
      out_.notes.push_back(prefix + "Transform " + OneLine(name.empty() ? "" : name, 64) +
                           " may make more resources: they are not checked");
    }
    const Template one(root, given);
    for (std::size_t i = 0; i < resources->keys.size(); ++i) {
      const std::string& id = resources->keys[i].text;
      const YamlNode& resource = resources->children[i];
      if (id.starts_with("Fn::ForEach")) {
        out_.notes.push_back(prefix + OneLine(id, 128) + " makes resources that are not checked");
        continue;
      }
      const std::string type = ScalarOf(ChildOf(&resource, "Type"));
      if (type.empty()) {
        return InvalidArgument(std::to_string(resource.location.line) + ": resource " +
                               OneLine(id, 128) + " has no Type");
      }
      const YamlNode* const condition = ChildOf(&resource, "Condition");
      if (condition != nullptr && one.Holds(ScalarOf(condition), 0) == false) continue;
      if (type == "AWS::CloudFormation::Stack") {
        TRUCE_RETURN_IF_ERROR(ReadNested(one, resource, prefix + id, depth));
      } else if (type.starts_with("AWS::") && type != "AWS::CDK::Metadata") {
        Judge(one, resource, prefix + id);
      } else if (type != "AWS::CDK::Metadata") {
        ++foreign_;
      }
    }
    return {};
  }

  Planned Take() {
    if (foreign_ > 0) {
      out_.notes.push_back(Counted(foreign_, "resource is", "resources are") +
                           " not of AWS (custom resources, modules): passed over");
    }
    return std::move(out_);
  }

 private:
  // A resource of a template, and how its names are found.
  struct Declaring {
    const Template& one;
    const YamlNode& resource;
    const CloudFormationType& row;
    const TypeSpec& spec;
  };

  void Judge(const Template& one, const YamlNode& resource, const std::string& address) {
    PlannedResource planned;
    planned.address = OneLine(address, kAddressBytesMax);
    planned.kind = ScalarOf(ChildOf(&resource, "Type"));
    planned.at = resource.location;
    const bool is_kept = ScalarOf(ChildOf(&resource, "DeletionPolicy")).starts_with("Retain");
    if (is_kept) planned.intent = Intent::kManages;
    const TypeSpec* const spec =
        catalogue_.FindType(TypeOfCloudFormation(planned.kind, catalogue_));
    const CloudFormationType* const row = FindCloudFormationType(planned.kind);
    planned.known_kind = spec != nullptr && (row != nullptr || IsGivenByAws(*spec));
    if (spec != nullptr && row != nullptr && !row->parts.empty()) {
      DeclareAll({one, resource, *row, *spec}, planned);
    }
    out_.resources.push_back(std::move(planned));
  }

  void DeclareAll(const Declaring& declaring, PlannedResource& planned) {
    for (const std::string_view other : declaring.row.others) {
      if (ChildOf(ChildOf(&declaring.resource, "Properties"), other) == nullptr) continue;
      out_.notes.push_back(planned.address + ": its " + std::string(other) +
                           " declare resources of no type that Truce knows: passed over");
    }
    const std::string_view each = declaring.row.each;
    if (each.empty()) return Declare(declaring, nullptr, planned);
    const YamlNode* const list = ChildOf(ChildOf(&declaring.resource, "Properties"), each);
    const auto elements = declaring.one.Elements(list);
    if (list != nullptr && !elements) {
      planned.unclear = "its " + std::string(each) + " are known to CloudFormation alone";
    }
    if (!elements) return;
    for (const YamlNode& element : *elements) Declare(declaring, &element, planned);
  }

  void Declare(const Declaring& declaring, const YamlNode* element, PlannedResource& planned) {
    const PlanDefaults& given = declaring.one.given();
    PartValues values{{"region", given.region}, {"account", given.account}};
    std::optional<Found> unknown;
    std::string_view unknown_part;
    for (const CloudFormationType::Part& part : declaring.row.parts) {
      const Found found = declaring.one.FromSources(part.sources, declaring.resource, element);
      switch (found.state) {
        case Found::State::kText:
          values[std::string(part.name)] = found.text;
          planned.at = found.at;  // of the last one, which is the name
          break;
        case Found::State::kNone: break;
        case Found::State::kMade:
        case Found::State::kSibling: return;  // nobody else has it
        case Found::State::kUnknown:
          values[std::string(part.name)] = {};
          unknown = found;
          unknown_part = part.name;
          break;
      }
    }
    const auto& parts = declaring.spec.parts;
    const bool is_whole = std::all_of(parts.begin(), parts.end(), [&](const KeyPart& part) {
      return values.contains(part.name) || part.default_value;
    });
    if (!is_whole) return;  // CloudFormation makes the name
    if (!unknown) return AddDeclared(declaring.spec, values, catalogue_, planned);
    planned.unclear = "its " + std::string(unknown_part) + " is not known: " + unknown->text;
    planned.remedy = unknown->remedy;
    planned.at = unknown->at;
  }

  // A stack within a stack, by its file.
  Result<void> ReadNested(const Template& one, const YamlNode& resource, const std::string& address,
                          int depth) {
    const PlanDefaults& given = one.given();
    const YamlNode* const asset = ChildOf(ChildOf(&resource, "Metadata"), "aws:asset:path");
    const YamlNode* const properties = ChildOf(&resource, "Properties");
    const YamlNode* const url = ChildOf(properties, "TemplateURL");
    Found path = one.Resolve(url, false);
    // The end of an asset's URL names it, whatever else is not known.
    if (path.state != Found::State::kText && url != nullptr) {
      const YamlNode* last = url;
      while (!last->children.empty()) last = &last->children.back();
      path = Text("://" + ScalarOf(last), *url);
    }
    if (asset != nullptr) path = Text(ScalarOf(asset), *asset);
    const Result<YamlNode> nested = file_(path.text);
    if (!nested.ok() && nested.error().code == ErrorCode::kNotFound) {
      out_.notes.push_back(OneLine(address, kAddressBytesMax) +
                           " nests a template that is no file: what it declares is not checked");
      return {};
    }
    if (!nested.ok() || !IsMapping(ChildOf(&nested.value(), "Resources"))) {
      PlannedResource unread;
      unread.address = OneLine(address, kAddressBytesMax);
      unread.kind = ScalarOf(ChildOf(&resource, "Type"));
      unread.at = path.at;
      unread.unclear = nested.ok() ? "its template " + path.text + " has no Resources"
                                   : "its template " + nested.error().message;
      unread.remedy = "Put it beside this template";
      out_.resources.push_back(std::move(unread));
      return {};
    }
    if (depth == kNestedMax) {
      return InvalidArgument(std::to_string(resource.location.line) + ": " +
                             OneLine(address, kAddressBytesMax) + " nests templates deeper than 8");
    }
    PlanDefaults inner{given.account, given.region, {}};
    if (const YamlNode* const parameters = ChildOf(properties, "Parameters");
        IsMapping(parameters)) {
      for (std::size_t i = 0; i < parameters->keys.size(); ++i) {
        const Found value = one.Resolve(&parameters->children[i], false);
        if (value.state == Found::State::kText) {
          inner.parameters[parameters->keys[i].text] = value.text;
        }
      }
    }
    const std::size_t first = out_.resources.size();
    TRUCE_RETURN_IF_ERROR(Read(nested.value(), inner, address + "/", depth + 1));
    // Lines are those of the file that was asked about.
    for (std::size_t i = first; i < out_.resources.size(); ++i) out_.resources[i].at = path.at;
    return {};
  }

  const Catalogue& catalogue_;
  const TemplateFile& file_;
  std::size_t templates_ = 0;
  std::size_t foreign_ = 0;
  Planned out_;
};

}  // namespace

bool IsTemplate(const YamlNode& root) {
  if (root.kind != YamlNode::Kind::kMapping || root.Find("apiVersion") != nullptr) return false;
  if (root.Find("AWSTemplateFormatVersion") != nullptr) return true;
  const YamlNode* const resources = root.Find("Resources");
  return IsMapping(resources) &&
         std::any_of(resources->children.begin(), resources->children.end(),
                     [](const YamlNode& each) { return ChildOf(&each, "Type") != nullptr; });
}

Result<Planned> ReadTemplate(const YamlNode& root, const PlanDefaults& defaults,
                             const Catalogue& catalogue, const TemplateFile& file) {
  TemplateReader reader(catalogue, file);
  TRUCE_RETURN_IF_ERROR(reader.Read(root, defaults, {}, 0));
  return reader.Take();
}

}  // namespace truce
