#include "registry/ownership/lists/resource_copy.h"

#include <map>
#include <utility>

#include "registry/ownership/facts.h"
#include "registry/ownership/names.h"

namespace truce {
namespace {

using Objects = std::map<Uid, Object>;

// Chains are far shorter; a loop of links ends here.
constexpr int kChainMax = 32;

void AddChain(const Uid& uid, const Facts& facts, Objects& objects) {
  std::optional<Object> object = facts.ObjectByUid(uid);
  for (int steps = 0; object && steps < kChainMax; ++steps) {
    const std::optional<Slot> parent = object->parent;
    const Uid parent_uid = object->parent_uid;
    Uid own = object->uid;
    if (!objects.emplace(std::move(own), *std::move(object)).second || !parent) return;
    object = parent_uid.empty() ? facts.ObjectBySlot(*parent) : facts.ObjectByUid(parent_uid);
  }
}

}  // namespace

ResourceCopy CopyOf(const ResourceId& id, const Facts& facts) {
  ResourceCopy copy;
  copy.id = id;
  copy.owner = facts.OwnerOf(id);
  copy.rows = facts.RowsOf(id);
  copy.agreements = facts.AgreementsOf(id);
  copy.names = facts.NamesOf(id);
  copy.key = BestOf(copy.names);
  Objects objects;
  for (const Row& row : copy.rows) AddChain(row.id.uid, facts, objects);
  for (auto& [uid, object] : objects) copy.objects.push_back(std::move(object));
  if (!copy.owner) return copy;
  const Owner nothing;
  copy.owner->party = nothing.party;
  copy.owner->shape = nothing.shape;
  copy.owner->state = nothing.state;
  copy.owner->leaf = nothing.leaf;
  copy.owner->contested = nothing.contested;
  return copy;
}

}  // namespace truce
