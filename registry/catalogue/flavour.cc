#include "registry/catalogue/flavour.h"

#include <algorithm>
#include <cstddef>

namespace truce {
namespace {

constexpr std::array kFlavours = {
    FlavourSpec{.flavour = Flavour::kUpjetCluster,
                .name = "upjet cluster-scoped",
                .groups = ".aws.upbound.io"},
    FlavourSpec{.flavour = Flavour::kUpjetNamespaced,
                .name = "upjet namespaced",
                .groups = ".aws.m.upbound.io",
                .namespaced = true,
                .config_kind = "ClusterProviderConfig",
                .own_config_kind = "ProviderConfig"},
    // An explicit list that names Delete would count for more than the policy.
    FlavourSpec{
        .flavour = Flavour::kCommunity,
        .name = "community",
        .groups = ".aws.crossplane.io",
        .keeping = "spec.deletionPolicy: Orphan",
        .keeping_patch = R"({"spec":{"deletionPolicy":"Orphan","managementPolicies":["*"]}})",
        .keeps_by_policy = true},
    FlavourSpec{.flavour = Flavour::kAck,
                .name = "ack",
                .groups = ".services.k8s.aws",
                .namespaced = true,
                .config_kind = "Namespace",
                .config_is_namespace = true,
                .sections = {"", ""},
                .shown_by = "status.ackResourceMetadata",
                .finalizer = "",
                .synced = "ACK.ResourceSynced",
                .dormant = "ACK.Terminal",
                .troubles = {"ACK.Terminal", "ACK.Recoverable"},
                .keeping = "annotation services.k8s.aws/deletion-policy: retain",
                .observing = "annotation services.k8s.aws/read-only: \"true\"",
                .keeping_patch =
                    R"({"metadata":{"annotations":{"services.k8s.aws/deletion-policy":"retain"}}})",
                .keeps_by_policy = true},
};

constexpr bool AreInOrder() {
  for (std::size_t i = 0; i < kFlavours.size(); ++i) {
    if (static_cast<std::size_t>(kFlavours[i].flavour) != i) return false;
  }
  return true;
}
static_assert(AreInOrder());

}  // namespace

std::span<const FlavourSpec> Flavours() { return kFlavours; }

const FlavourSpec& SpecOf(Flavour flavour) { return kFlavours[static_cast<std::size_t>(flavour)]; }

const FlavourSpec* FindFlavour(std::string_view group) {
  const auto* const at =
      std::find_if(kFlavours.begin(), kFlavours.end(),
                   [&](const FlavourSpec& flavour) { return group.ends_with(flavour.groups); });
  return at == kFlavours.end() ? nullptr : &*at;
}

const FlavourSpec& FlavourFor(std::string_view group) {
  const FlavourSpec* const found = FindFlavour(group);
  return found == nullptr ? kFlavours.front() : *found;
}

std::string FinalizerOf(std::string_view group, std::string_view kind) {
  const std::string_view finalizer = FlavourFor(group).finalizer;
  if (!finalizer.empty()) return std::string(finalizer);
  return std::string("finalizers.").append(group).append("/").append(kind);
}

std::string_view Name(Flavour flavour) { return SpecOf(flavour).name; }

}  // namespace truce
