#include "webhook/publish/own_object.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "webhook/wire/json_text.h"

namespace truce {
namespace {

constexpr std::string_view kCondition = "Accepted";

std::int64_t NumberOf(Value value) {
  const std::string_view text = value.text();
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string OwnObject::Label() const {
  return kind.kind + " " + (ns.empty() ? name : ns + "/" + name);
}

// No field of our own kinds lies deeper.
constexpr int kFieldsDepth = 64;

YamlNode Copied(Value value, int levels) {
  if (!value.is_object() && !value.is_array()) {
    return YamlNode::Scalar(std::string(value.text()), value.is_string());
  }
  YamlNode node;
  node.kind = value.is_array() ? YamlNode::Kind::kSequence : YamlNode::Kind::kMapping;
  for (Value child = value.first(); child.exists(); child = value.next(child)) {
    if (value.is_object()) node.keys.push_back({std::string(child.key()), {}});
    node.children.push_back(levels > 0 ? Copied(child, levels - 1) : YamlNode::Scalar("", false));
  }
  return node;
}

YamlNode YamlFrom(Value value) { return Copied(value, kFieldsDepth); }

std::optional<OwnObject> ReadOwnObject(const ServedKind& kind, Value object) {
  const Value metadata = object.Child("metadata");
  OwnObject out;
  out.kind = kind;
  out.ns = metadata.Child("namespace").text();
  out.name = metadata.Child("name").text();
  out.uid = metadata.Child("uid").text();
  out.generation = NumberOf(metadata.Child("generation"));
  out.created = metadata.Child("creationTimestamp").text();
  if (out.name.empty() || out.uid.empty()) return std::nullopt;
  out.spec = YamlFrom(object.Child("spec"));
  std::optional<OwnCondition> condition = ReadOwnCondition(object);
  if (condition && condition->generation == out.generation) {
    out.said = std::move(condition->verdict);
  }
  return out;
}

std::optional<OwnCondition> ReadOwnCondition(Value object) {
  const Value conditions = object.Child("status").Child("conditions");
  for (Value one = conditions.first(); one.exists(); one = conditions.next(one)) {
    if (one.Child("type").text() != kCondition) continue;
    return OwnCondition{
        {one.Child("status").text() == "True", std::string(one.Child("message").text()),
         std::string(object.Child("status").Child("verdict").text())},
        NumberOf(one.Child("observedGeneration"))};
  }
  return std::nullopt;
}

std::string OwnStatusPatch(const OwnVerdict& verdict, std::int64_t generation,
                           const std::string& now) {
  const nlohmann::ordered_json condition = {{"type", kCondition},
                                            {"status", verdict.accepted ? "True" : "False"},
                                            {"reason", verdict.accepted ? "InForce" : "Refused"},
                                            {"message", verdict.message},
                                            {"observedGeneration", generation},
                                            {"lastTransitionTime", now}};
  nlohmann::ordered_json status = {{"conditions", nlohmann::ordered_json::array({condition})}};
  if (!verdict.outcome.empty()) {
    status["verdict"] = verdict.outcome;
    status["message"] = verdict.message;
    status["checked"] = now;
  }
  const nlohmann::ordered_json patch = {{"status", std::move(status)}};
  return Dump(patch);
}

}  // namespace truce
