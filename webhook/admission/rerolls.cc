#include "webhook/admission/rerolls.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

namespace truce {
namespace {

constexpr std::string_view kReferences = "resourceRefs";

// Whether both have the same members but for those called `ignored`.
bool SameBut(Value a, Value b, std::span<const std::string_view> ignored) {
  if (!a.is_object() || !b.is_object()) return a.Equals(b);
  const auto skip = [&](const Value& of, Value at) {
    while (at.exists() && std::find(ignored.begin(), ignored.end(), at.key()) != ignored.end()) {
      at = of.next(at);
    }
    return at;
  };
  Value left = skip(a, a.first());
  Value right = skip(b, b.first());
  while (left.exists() && right.exists()) {
    if (left.key() != right.key() || !left.Equals(right)) return false;
    left = skip(a, a.next(left));
    right = skip(b, b.next(right));
  }
  return !left.exists() && !right.exists();
}

bool OnlyReferencesDiffer(Value a, Value b) {
  constexpr std::array<std::string_view, 2> kParts = {"metadata", "spec"};
  constexpr std::array<std::string_view, 3> kBookkeeping = {"generation", "resourceVersion",
                                                            "managedFields"};
  constexpr std::array<std::string_view, 2> kInSpec = {kReferences, "crossplane"};
  constexpr std::array<std::string_view, 1> kInCrossplane = {kReferences};
  const Value spec = a.Child("spec");
  const Value old_spec = b.Child("spec");
  return SameBut(a, b, kParts) && SameBut(a.Child("metadata"), b.Child("metadata"), kBookkeeping) &&
         SameBut(spec, old_spec, kInSpec) &&
         SameBut(spec.Child("crossplane"), old_spec.Child("crossplane"), kInCrossplane);
}

// Sorted; nothing when one of them is no whole reference, or there are too many.
std::optional<std::vector<Slot>> ReferencesOf(Value object) {
  const Value spec = object.Child("spec");
  const Value metadata = object.Child("metadata");
  Value list = spec.Child("crossplane").Child(kReferences);
  if (list.empty()) list = spec.Child(kReferences);
  std::vector<Slot> out;
  if (list.empty()) return out;
  if (!list.is_array() || list.size() > kReferencesMax) return std::nullopt;
  for (Value item = list.first(); item.exists(); item = list.next(item)) {
    const std::string_view version = item.Child("apiVersion").text();
    const std::size_t slash = version.find('/');
    Slot slot;
    if (slash != std::string_view::npos) slot.group = version.substr(0, slash);
    slot.kind = item.Child("kind").text();
    const Value ns = item.Child("namespace");
    slot.ns = ns.empty() ? metadata.Child("namespace").text() : ns.text();
    slot.name = item.Child("name").text();
    if (slot.kind.empty() || slot.name.empty()) return std::nullopt;
    out.push_back(std::move(slot));
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The kinds of `slots`, sorted.
std::vector<GroupKind> KindsOf(std::span<const Slot> slots) {
  std::vector<GroupKind> out;
  for (const Slot& slot : slots) out.push_back({slot.group, slot.kind});
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::optional<ExchangedNames> NamesExchanged(Value object, Value old_object) {
  if (!OnlyReferencesDiffer(object, old_object)) return std::nullopt;
  const auto now = ReferencesOf(object);
  const auto old = ReferencesOf(old_object);
  if (!now || !old) return std::nullopt;
  ExchangedNames out;
  std::set_difference(old->begin(), old->end(), now->begin(), now->end(),
                      std::back_inserter(out.gone));
  std::set_difference(now->begin(), now->end(), old->begin(), old->end(),
                      std::back_inserter(out.come));
  if (out.gone.empty() || out.gone.size() > kExchangedMax || KindsOf(out.gone) != KindsOf(out.come))
    return std::nullopt;
  return out;
}

std::optional<std::vector<StandingRefusal>> RefusalsOf(const ExchangedNames& names,
                                                       std::span<const StandingRefusal> standing) {
  std::vector<StandingRefusal> out;
  for (const Slot& gone : names.gone) {
    const auto found =
        std::find_if(standing.begin(), standing.end(), [&](const StandingRefusal& refusal) {
          const std::vector<std::string>& tried = refusal.names;
          return refusal.kind == GroupKind{gone.group, gone.kind} &&
                 std::find(tried.begin(), tried.end(), gone.name) != tried.end();
        });
    if (found == standing.end()) return std::nullopt;
    const bool is_known = std::any_of(out.begin(), out.end(), [&](const StandingRefusal& known) {
      return known.topic == found->topic;
    });
    if (!is_known) out.push_back(*found);
  }
  return out;
}

}  // namespace truce
