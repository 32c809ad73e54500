#include "webhook/publish/policy_source.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "webhook/publish/policy_objects.h"

namespace truce {
namespace {

constexpr std::string_view kInForce = "in force";

bool IsOlder(const OwnObject* a, const OwnObject* b) {
  return std::tie(a->created, a->kind.kind, a->ns, a->name) <
         std::tie(b->created, b->kind.kind, b->ns, b->name);
}

Result<void> Add(const OwnObject& object, Config& config) {
  for (const PolicyKind& kind : PolicyKinds()) {
    if (kind.kind.kind == object.kind.kind) return kind.add(object, config);
  }
  return {};
}

// Without the place, which the reader of the object knows: "NamingPolicy standard: naming.types:
// …".
std::string MessageFor(const OwnObject& object, const Error& error) {
  const std::string place = object.Label() + ": ";
  return error.message.starts_with(place) ? error.message.substr(place.size()) : error.message;
}

}  // namespace

bool SaysTheSameOfObjects(Config a, Config b) {
  for (Config* config : {&a, &b}) {
    config->modes.rules = {};
    config->modes.exemptions.clear();
    config->naming = {};
    config->modes.overrides.clear();
  }
  return a == b;
}

PolicySource::PolicySource(std::shared_ptr<const Catalogue> catalogue, PolicyFn on_policy)
    : on_policy_(std::move(on_policy)), types_{std::move(catalogue), nullptr} {}

Result<EffectivePolicy> PolicySource::Build(const Config& config, const Objects& objects) const {
  auto merged = std::make_shared<Config>(config);
  for (const OwnObject* object : objects) TRUCE_RETURN_IF_ERROR(Add(*object, *merged));
  // Once: no configuration changes AWS's own rules.
  if (types_.names == nullptr) {
    TRUCE_ASSIGN_OR_RETURN(types_, WithNames(types_.catalogue));
  }
  TRUCE_ASSIGN_OR_RETURN(auto policy, PolicyFrom(*merged, types_));
  return EffectivePolicy{std::move(policy), std::move(merged)};
}

Result<void> PolicySource::Configure(const Config& config) {
  const std::lock_guard<std::mutex> lock(mutex_);
  TRUCE_ASSIGN_OR_RETURN(const EffectivePolicy alone, Build(config, {}));
  config_ = config;
  if (objects_.empty()) {
    on_policy_(alone);
    return {};
  }
  const std::vector<OwnObject> objects = objects_;
  static_cast<void>(Apply(objects));  // told by the next Take
  return {};
}

Result<void> PolicySource::Try(const OwnObject& object) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Objects objects;
  for (const auto& [uid, other] : in_force_) {
    const bool same =
        other.kind == object.kind && other.ns == object.ns && other.name == object.name;
    if (!same) objects.push_back(&other);
  }
  objects.push_back(&object);
  const Result<EffectivePolicy> built = Build(config_, objects);
  if (built.ok()) return {};
  return Error{built.error().code, MessageFor(object, built.error())};
}

std::vector<ServedKind> PolicySource::kinds() const {
  std::vector<ServedKind> out;
  for (const PolicyKind& kind : PolicyKinds()) out.push_back(kind.kind);
  return out;
}

std::vector<OwnVerdict> PolicySource::Take(std::span<const OwnObject> objects) {
  const std::lock_guard<std::mutex> lock(mutex_);
  objects_.assign(objects.begin(), objects.end());
  return Apply(objects);
}

// Nothing that changes displaces what is in force, and nothing new what was there: objects in force
// as they are, then changed ones, then what was in force before a restart, then new ones; each by
// age, which counts in whole seconds.
std::vector<std::size_t> PolicySource::OrderOf(std::span<const OwnObject> objects) const {
  std::vector<std::size_t> order(objects.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto rank = [&](std::size_t i) {
    if (IsInForce(objects[i])) return 0;
    if (in_force_.contains(objects[i].uid)) return 1;
    return objects[i].said && objects[i].said->accepted ? 2 : 3;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  return order;
}

bool PolicySource::IsInForce(const OwnObject& object) const {
  const auto found = in_force_.find(object.uid);
  return found != in_force_.end() && found->second.generation == object.generation;
}

// Adds `object`, or else its last good version, to `accepted`: last, so that what clashes is said
// of it and not of what it clashes with.
OwnVerdict PolicySource::Admit(const OwnObject& object, Objects& accepted) const {
  accepted.push_back(&object);
  const Result<EffectivePolicy> with = Build(config_, accepted);
  if (with.ok()) return {true, std::string(kInForce)};
  accepted.pop_back();
  OwnVerdict verdict{false, MessageFor(object, with.error())};
  const auto last = in_force_.find(object.uid);
  if (last == in_force_.end() || IsInForce(object)) return verdict;
  accepted.push_back(&last->second);
  if (!Build(config_, accepted).ok()) {
    accepted.pop_back();
    return verdict;
  }
  verdict.message += "; generation " + std::to_string(last->second.generation) + " stays in force";
  return verdict;
}

std::vector<OwnVerdict> PolicySource::Apply(std::span<const OwnObject> objects) {
  std::vector<OwnVerdict> verdicts(objects.size(), {true, std::string(kInForce)});
  Objects accepted;
  for (const OwnObject& object : objects) accepted.push_back(&object);
  Result<EffectivePolicy> built = Build(config_, accepted);
  if (!built.ok()) {
    accepted.clear();
    for (const std::size_t i : OrderOf(objects)) verdicts[i] = Admit(objects[i], accepted);
    // Admitted in another order, they still say the same together at every server.
    std::sort(accepted.begin(), accepted.end(), IsOlder);
    built = Build(config_, accepted);
  }
  std::map<std::string, OwnObject> in_force;
  for (const OwnObject* object : accepted) in_force.emplace(object->uid, *object);
  in_force_ = std::move(in_force);
  if (built.ok()) on_policy_(built.value());
  return verdicts;
}

}  // namespace truce
