#include "webhook/check/locations.h"

#include <string>
#include <vector>

namespace truce {
namespace {

constexpr std::string_view kAdoptionFields = "services.k8s.aws/adoption-fields";
constexpr std::string_view kExternalName = "crossplane.io/external-name";

const YamlNode* Child(const YamlNode* node, std::string_view key) {
  return node == nullptr || node->kind != YamlNode::Kind::kMapping ? nullptr : node->Find(key);
}

const YamlNode* NodeAt(const YamlNode* node, const std::vector<std::string>& path) {
  for (const std::string& step : path) {
    if (node != nullptr && node->kind == YamlNode::Kind::kSequence && node->children.size() == 1) {
      node = node->children.data();  // older versions have lists of one
    }
    node = Child(node, step);
  }
  return node;
}

bool IsScalar(const YamlNode* node) {
  return node != nullptr && node->kind == YamlNode::Kind::kScalar && !node->scalar.empty();
}

bool Visit(const YamlNode& node, std::string_view text, std::size_t& left, const YamlNode*& found) {
  if (node.kind == YamlNode::Kind::kScalar) {
    if (node.scalar != text) return false;
    found = &node;
    return left-- == 0;
  }
  for (const YamlNode& child : node.children) {
    if (Visit(child, text, left, found)) return true;
  }
  return false;
}

// Where one part of the key is read from.
const YamlNode* Source(const YamlNode& object, const FlavourSpec& flavour, const KeyPart& part) {
  const YamlNode* metadata = Child(&object, "metadata");
  const bool is_ack = flavour.flavour == Flavour::kAck;
  const YamlNode* external =
      Child(Child(metadata, "annotations"), is_ack ? kAdoptionFields : kExternalName);
  switch (part.source) {
    case KeyPart::Source::kExternalName:
      return IsScalar(external) ? external : Child(metadata, "name");
    case KeyPart::Source::kAssignedExternalName: return external;
    case KeyPart::Source::kConstant: return nullptr;
    case KeyPart::Source::kField: break;
  }
  const YamlNode* spec = Child(&object, "spec");
  for (const std::string_view section : flavour.sections) {
    for (const std::vector<std::string>& path : part.paths) {
      const YamlNode* found = NodeAt(section.empty() ? spec : Child(spec, section), path);
      if (found != nullptr) return found;
    }
  }
  return is_ack ? external : nullptr;
}

const YamlNode* InManaged(const YamlNode& object, const KindEntry& entry, std::string_view name) {
  const YamlNode* first = nullptr;
  for (const KeyPart& part : entry.type->PartsFor(entry.flavour)) {
    const YamlNode* found = Source(object, SpecOf(entry.flavour), part);
    if (IsScalar(found) && found->scalar == name) return found;
    if (first == nullptr) first = found;
  }
  return first;
}

}  // namespace

const YamlNode* FindNode(const YamlNode& root, std::initializer_list<std::string_view> path) {
  const YamlNode* node = &root;
  for (const std::string_view step : path) node = Child(node, step);
  return node;
}

const YamlNode* FindText(const YamlNode& root, std::string_view text, std::size_t nth) {
  const YamlNode* found = nullptr;
  if (!text.empty()) Visit(root, text, nth, found);
  return found;
}

const YamlNode* FindName(const YamlNode& object, const KindEntry* entry, std::string_view name) {
  const YamlNode* found = entry == nullptr ? nullptr : InManaged(object, *entry, name);
  if (found != nullptr) return found;
  const YamlNode* metadata = Child(&object, "metadata");
  for (const YamlNode* part :
       {Child(&object, "spec"), Child(metadata, "annotations"), Child(metadata, "labels")}) {
    if (part == nullptr) continue;
    found = FindText(*part, name, 0);
    if (found != nullptr) return found;
  }
  found = Child(metadata, "name");
  return found == nullptr ? &object : found;
}

}  // namespace truce
