#include "tests/support/policy_vectors.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "webhook/config/load.h"
#include "webhook/wire/node_reader.h"

namespace truce {
namespace {

YamlNode Mapping() {
  YamlNode node;
  node.kind = YamlNode::Kind::kMapping;
  return node;
}

YamlNode& Put(YamlNode& mapping, const std::string& key, YamlNode value) {
  for (std::size_t i = 0; i < mapping.keys.size(); ++i) {
    if (mapping.keys[i].text == key) return mapping.children[i];
  }
  mapping.keys.push_back({key, {}});
  mapping.children.push_back(std::move(value));
  return mapping.children.back();
}

YamlNode Text(const std::string& text) { return YamlNode::Scalar(text, true); }

void Merge(const YamlNode* from, YamlNode& into) {
  if (from == nullptr) return;
  for (std::size_t i = 0; i < from->keys.size(); ++i) {
    Put(into, from->keys[i].text, from->children[i]);
  }
}

// One file.
class File {
 public:
  File(const YamlNode& root, std::string name)
      : root_(root), name_(std::move(name)), reader_(name_) {}

  Result<void> Read(std::set<std::string>& ids, std::vector<PolicyVector>& out) {
    TRUCE_RETURN_IF_ERROR(reader_.RequireMapping(root_, "file", {"about", "policies", "cases"}));
    const YamlNode* cases = root_.Find("cases");
    if (cases == nullptr) return reader_.Fail(root_, "cases", "is missing");
    for (const YamlNode& node : cases->children) {
      TRUCE_ASSIGN_OR_RETURN(PolicyVector vector, Case(node));
      if (!ids.insert(vector.id).second) return reader_.Fail(node, vector.id, "stands twice");
      out.push_back(std::move(vector));
    }
    return {};
  }

 private:
  Result<PolicyVector> Case(const YamlNode& node) {
    TRUCE_RETURN_IF_ERROR(reader_.RequireMapping(
        node, "case",
        {"id", "why", "policy", "at", "facts", "object", "before", "expect", "engines"}));
    PolicyVector out;
    TRUCE_ASSIGN_OR_RETURN(out.id, reader_.Required(node, "id", "case"));
    out.place = reader_.LocationOf(node);
    TRUCE_ASSIGN_OR_RETURN(std::string policy, reader_.Optional(node, "policy", out.id));
    if (policy.empty()) policy = "default";
    const YamlNode* policies = root_.Find("policies");
    const YamlNode* found = policies == nullptr ? nullptr : policies->Find(policy);
    if (found == nullptr) return reader_.Fail(node, out.id, "no policy '" + policy + "'");
    out.policy = found->children.empty() ? "" : WriteYaml(*found, 0);
    TRUCE_ASSIGN_OR_RETURN(std::string at, reader_.Optional(node, "at", out.id));
    const auto time = ParseTimestamp(at.empty() ? "2026-11-21T12:00:00Z" : at);
    if (!time) return reader_.Fail(node, out.id, "'at' is not a time");
    out.at = *time;
    const YamlNode* object = node.Find("object");
    const YamlNode* facts = node.Find("facts");
    if ((object == nullptr) == (facts == nullptr)) {
      return reader_.Fail(node, out.id, "needs either 'facts' or 'object'");
    }
    if (object != nullptr) out.object = *object;
    if (facts != nullptr) {
      TRUCE_ASSIGN_OR_RETURN(out.object, ObjectOf(*facts, out.id));
    }
    if (const YamlNode* before = node.Find("before"); before != nullptr) {
      const bool whole = before->Find("metadata") != nullptr;
      out.before = *before;
      if (!whole) {
        TRUCE_ASSIGN_OR_RETURN(out.before, ObjectOf(*before, out.id));
      }
    }
    const YamlNode* expect = node.Find("expect");
    if (expect == nullptr) return reader_.Fail(node, out.id + ".expect", "is missing");
    for (const YamlNode& item : expect->children) {
      TRUCE_ASSIGN_OR_RETURN(ExpectedFinding finding, Expected(item, out.id));
      out.expect.push_back(std::move(finding));
    }
    return out;
  }

  Result<ExpectedFinding> Expected(const YamlNode& node, const std::string& id) {
    TRUCE_RETURN_IF_ERROR(reader_.RequireMapping(node, id + ".expect", {"rule", "mode", "says"}));
    ExpectedFinding out;
    TRUCE_ASSIGN_OR_RETURN(out.rule, reader_.Required(node, "rule", id));
    TRUCE_ASSIGN_OR_RETURN(out.mode, reader_.Required(node, "mode", id));
    if (const YamlNode* says = node.Find("says"); says != nullptr) {
      TRUCE_ASSIGN_OR_RETURN(out.says, reader_.Texts(*says, id + ".says"));
    }
    return out;
  }

  Result<YamlNode> ObjectOf(const YamlNode& facts, const std::string& id) {
    TRUCE_RETURN_IF_ERROR(
        reader_.RequireMapping(facts, id,
                               {"kind", "version", "object", "namespace", "name", "field", "labels",
                                "annotations", "region", "providerConfig", "forProvider", "spec"}));
    TRUCE_ASSIGN_OR_RETURN(const std::string kind, reader_.Required(facts, "kind", id));
    const std::size_t dot = kind.find('.');
    if (dot == std::string::npos) return reader_.Fail(facts, id, "kind must be KIND.GROUP");
    const auto text = [&](std::string_view key, const std::string& fallback) {
      const YamlNode* node = facts.Find(key);
      return node == nullptr ? fallback : node->scalar;
    };
    YamlNode object = Mapping();
    Put(object, "apiVersion", Text(kind.substr(dot + 1) + "/" + text("version", "v1beta1")));
    Put(object, "kind", Text(kind.substr(0, dot)));
    YamlNode& metadata = Put(object, "metadata", Mapping());
    Put(metadata, "name", Text(text("object", id)));
    Put(metadata, "uid", Text("00000000-0000-4000-8000-000000000001"));
    if (facts.Find("namespace") != nullptr) Put(metadata, "namespace", Text(text("namespace", "")));
    if (const YamlNode* labels = facts.Find("labels"); labels != nullptr) {
      Put(metadata, "labels", *labels);
    }
    YamlNode& annotations = Put(metadata, "annotations", Mapping());
    Merge(facts.Find("annotations"), annotations);
    const YamlNode* name = facts.Find("name");
    const bool annotated = name != nullptr && facts.Find("field") == nullptr;
    if (annotated) Put(annotations, "crossplane.io/external-name", *name);
    YamlNode& spec = Put(object, "spec", Mapping());
    YamlNode& provider = Put(spec, "forProvider", Mapping());
    Put(provider, "region", Text(text("region", "eu-west-1")));
    Merge(facts.Find("forProvider"), provider);
    Merge(facts.Find("spec"), spec);
    if (facts.Find("providerConfig") != nullptr) {
      Put(Put(spec, "providerConfigRef", Mapping()), "name", Text(text("providerConfig", "")));
    }
    if (name != nullptr && !annotated) PutAt(object, text("field", ""), *name);
    return object;
  }

  static void PutAt(YamlNode& object, const std::string& path, const YamlNode& value) {
    const std::size_t dot = path.find('.');
    if (dot == std::string::npos) {
      Put(object, path, value);
    } else {
      PutAt(Put(object, path.substr(0, dot), Mapping()), path.substr(dot + 1), value);
    }
  }

  const YamlNode& root_;
  std::string name_;
  NodeReader reader_;
};

}  // namespace

Result<std::vector<PolicyVector>> ReadPolicyVectors(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  std::vector<PolicyVector> out;
  std::set<std::string> ids;
  for (const std::string& name : names) {
    TRUCE_ASSIGN_OR_RETURN(const std::string content, ReadConfigFile(folder + "/" + name));
    TRUCE_ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(content, name));
    TRUCE_RETURN_IF_ERROR(File(root, name).Read(ids, out));
  }
  return out;
}

}  // namespace truce
