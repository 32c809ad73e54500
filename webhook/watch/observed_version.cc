#include "webhook/watch/observed_version.h"

#include <algorithm>
#include <charconv>

#include "registry/base/fingerprint.h"
#include "registry/base/name_table.h"
#include "registry/identity/evidence.h"

namespace truce {
namespace {

constexpr NameTable<KindState::kUnserved> kKindStates("pending", "listing", "empty", "watched",
                                                      "relisting", "failing", "unserved");

ConditionSeen::Status StatusOf(std::string_view text) {
  if (text == "True") return ConditionSeen::Status::kTrue;
  if (text == "False") return ConditionSeen::Status::kFalse;
  return ConditionSeen::Status::kUnknown;
}

ConditionSeen ReadCondition(Value condition) {
  ConditionSeen seen;
  seen.status = StatusOf(StringOf(condition.Child("status")));
  seen.reason = StringOf(condition.Child("reason"));
  seen.since = ParseTimestamp(StringOf(condition.Child("lastTransitionTime")));
  return seen;
}

void AddTrouble(Value condition, ObservedVersion& observed) {
  constexpr std::size_t kTroubleBytesMax = 4096;
  const std::string_view message = StringOf(condition.Child("message"));
  const std::size_t room = kTroubleBytesMax - std::min(kTroubleBytesMax, observed.trouble.size());
  if (message.empty() || room == 0) return;
  observed.trouble.append(message.substr(0, room)).append("\n");
}

void ReadConditions(Value conditions, const FlavourSpec& flavour, ObservedVersion& observed) {
  if (!conditions.is_array()) return;
  const bool has_troubles = !flavour.troubles[0].empty();
  for (Value at = conditions.first(); at.exists(); at = conditions.next(at)) {
    const std::string_view type = StringOf(at.Child("type"));
    if (type == "Ready") observed.ready = ReadCondition(at);
    if (type == flavour.synced) observed.synced = ReadCondition(at);
    const bool is_true = StringOf(at.Child("status")) == "True";
    const bool is_trouble = has_troubles ? is_true && std::ranges::count(flavour.troubles, type) > 0
                                         : StringOf(at.Child("status")) == "False";
    if (is_trouble) AddTrouble(at, observed);
    const bool is_dormant = !flavour.dormant.empty() && type == flavour.dormant && is_true;
    if (is_dormant && !observed.facts.real) observed.dormant = true;
  }
}

void AddTag(std::string_view key, std::string_view value, ObservedVersion& observed) {
  Fingerprint tag;
  tag.Add(key);
  tag.Add(value);
  observed.tags_digest += tag.value();  // a sum: the order does not count
}

// A map, or the community's list of {key, value}.
void ReadTags(Value tags, ObservedVersion& observed) {
  if (!tags.is_object() && !tags.is_array()) return;
  observed.has_tags = true;
  for (Value tag = tags.first(); tag.exists(); tag = tags.next(tag)) {
    if (tags.is_object()) {
      AddTag(tag.key(), tag.text(), observed);
    } else {
      AddTag(StringOf(tag.Child("key")), StringOf(tag.Child("value")), observed);
    }
  }
}

// Neither a field of a ProviderConfig nor a part of a condition lies deeper.
constexpr int kFieldsDepth = 32;

void Digest(Value value, int levels, Fingerprint& digest) {
  digest.Add(value.key());
  digest.Add(value.text());
  digest.Add(value.is_object() ? "{" : value.is_array() ? "[" : "");
  if (levels == 0) return;
  for (Value child = value.first(); child.exists(); child = value.next(child)) {
    Digest(child, levels - 1, digest);
  }
  digest.Add("}");
}

}  // namespace

std::uint64_t DigestOf(Value value) {
  Fingerprint digest;
  Digest(value, kFieldsDepth, digest);
  return digest.value();
}

ObservedVersion ReadObservedVersion(Value object, const FollowedKind& kind,
                                    const IdentityRules& rules) {
  ObservedVersion observed;
  observed.facts = Identify(object, kind.group_kind(), rules);
  observed.role = kind.role;
  const ObjectView view = ViewObject(object);
  const std::string_view generation = object.Child("metadata").Child("generation").text();
  std::from_chars(generation.data(), generation.data() + generation.size(), observed.generation);
  ReadConditions(view.conditions, FlavourFor(kind.selection.kind.group), observed);
  observed.has_conditions = view.conditions.is_array() && view.conditions.size() > 0;
  observed.paused = view.Annotation("crossplane.io/paused") == "true";
  observed.in_use = view.Label("crossplane.io/in-use") == "true";
  ReadTags(view.at_provider.Child("tags"), observed);
  const GroupKind name = kind.group_kind();
  if (const KindEntry* entry = rules.catalogue->FindKind(name.group, name.kind)) {
    observed.config = ConfigOf(view, *entry);
    observed.status_digest = DigestOf(object.Child("status"));
    const auto outside = rules.outside.find(*observed.config);
    if (outside != rules.outside.end()) observed.endpoint = outside->second;
  }
  return observed;
}

std::string_view Name(KindState state) { return kKindStates.Of(state); }

namespace {

// The text of the first member `name` behind metadata: what can be made out of what is no JSON.
std::string TextAfterMetadata(std::string_view json, std::string_view name) {
  const std::string member = "\"" + std::string(name) + "\":\"";
  const std::size_t metadata = json.find("\"metadata\":");
  const std::size_t at = metadata == json.npos ? json.npos : json.find(member, metadata);
  if (at == json.npos) return {};
  const std::string_view text = json.substr(at + member.size());
  return std::string(text.substr(0, text.find('"')));
}

}  // namespace

UnreadObject Unread(std::string_view json, std::string why) {
  return {TextAfterMetadata(json, "namespace"), TextAfterMetadata(json, "name"), std::move(why)};
}

}  // namespace truce
