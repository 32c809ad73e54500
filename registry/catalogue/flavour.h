// Flavours of kinds: the controllers that read an object, hence how it is written. One table tells
// all differences between flavours.
#ifndef TRUCE_REGISTRY_CATALOGUE_FLAVOUR_H_
#define TRUCE_REGISTRY_CATALOGUE_FLAVOUR_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace truce {

enum class Flavour : std::uint8_t { kUpjetCluster, kUpjetNamespaced, kCommunity, kAck };

struct FlavourSpec {
  Flavour flavour = Flavour::kUpjetCluster;
  std::string_view name;    // "upjet cluster-scoped"
  std::string_view groups;  // how the groups of its kinds end: ".aws.upbound.io"
  bool namespaced = false;  // whether its objects lie in a namespace

  // The kind by which an object tells its account, where it names no other, and the kind of one in
  // the object's own namespace (empty: there is none). Their group: ConfigGroup().
  std::string_view config_kind = "ProviderConfig";
  std::string_view own_config_kind = {};
  // `config_kind` is Kubernetes' Namespace: it is the object's own that counts, by its annotations.
  bool config_is_namespace = false;

  // The members of spec that hold the fields of a declaration; the first that has a field counts.
  // Empty: the spec itself.
  std::array<std::string_view, 2> sections = {"forProvider", "initProvider"};

  // Where the status shows the ARN of the resource, and its account.
  std::string_view shown_by = "status.atProvider.arn";
  // That the controller sets before it creates anything; empty: "finalizers.GROUP/KIND".
  std::string_view finalizer = "finalizer.managedresource.crossplane.io";

  // Conditions in its status. `synced`: its controller went through it, and AWS took all of it.
  // `dormant`, of an object without its finalizer: the controller manages nothing by it, and tries
  // again once the object changes or it starts anew; empty: there is none. `troubles`: those whose
  // messages are trouble when they are True; empty: those of all that are False.
  std::string_view synced = "Synced";
  std::string_view dormant = {};
  std::array<std::string_view, 2> troubles = {};

  // For people: how an object keeps its resource when it is deleted, and how it only reads it.
  std::string_view keeping = R"(spec.managementPolicies: ["Observe"])";
  std::string_view observing = R"(spec.managementPolicies: ["Observe"])";
  // `keeping` as a merge patch.
  std::string_view keeping_patch = R"({"spec":{"managementPolicies":["Observe"]}})";
  bool keeps_by_policy = false;  // with `keeping` set it manages on, until it is deleted

  // "aws.upbound.io"; of a Namespace empty.
  constexpr std::string_view ConfigGroup() const {
    return config_is_namespace ? std::string_view() : groups.substr(1);
  }
};

// Each flavour once, in the order of the enumerators.
std::span<const FlavourSpec> Flavours();
const FlavourSpec& SpecOf(Flavour flavour);
// Null: a group of none, as those of claims are.
const FlavourSpec* FindFlavour(std::string_view group);
// The same; the first flavour for a group of none.
const FlavourSpec& FlavourFor(std::string_view group);

// The finalizer of the controller of this kind, which only that may remove.
std::string FinalizerOf(std::string_view group, std::string_view kind);

// "upjet cluster-scoped", "upjet namespaced", "community", "ack".
std::string_view Name(Flavour flavour);

}  // namespace truce

#endif  // TRUCE_REGISTRY_CATALOGUE_FLAVOUR_H_
