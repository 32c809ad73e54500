#include "registry/ownership/rows.h"

#include "registry/base/name_table.h"

namespace truce {
namespace {

constexpr NameTable<Record::kTransferring> kRecords("none", "orphaned", "imported", "transferring");
constexpr NameTable<NameSort::kFormerId> kNameSorts("declared", "located", "assigned", "former-id");
constexpr std::string_view kImportGroup = "truce.dev";
constexpr std::string_view kImportKind = "Import";

}  // namespace

std::string_view Name(Record record) { return kRecords.Of(record); }

std::string_view Name(HolderState state) {
  static constexpr NameTable<HolderState::kTerminating> kWords("reserved", "held", "terminating");
  return kWords.Of(state);
}

std::string_view Name(NameSort sort) { return kNameSorts.Of(sort); }

std::string_view Name(AuditAction action) {
  static constexpr NameTable<AuditAction::kAdministered> kWords("granted", "conflict", "released",
                                                                "passed", "orphaned", "transferred",
                                                                "moved", "administered");
  return kWords.Of(action);
}

std::string ShapeOf(std::string_view key) {
  // space|partition|account|region|…: no field contains a bare "|".
  const std::size_t partition = key.find('|');
  const std::size_t account =
      partition == std::string_view::npos ? partition : key.find('|', partition + 1);
  if (account == std::string_view::npos) return {};
  const std::size_t region = key.find('|', account + 1);
  if (region == std::string_view::npos || region == account + 1) return {};
  std::string shape;
  shape.reserve(key.size());
  shape.append(key.substr(0, account + 1)).append(key.substr(region));
  return shape;
}

Slot ImportRoot(std::string_view source) {
  return {"", std::string(kImportGroup), std::string(kImportKind), "", std::string(source)};
}

// No object's uid is spelt so: its cluster, before the slash, is not empty.
Uid ImportUid(std::string_view source) { return {"/" + std::string(source)}; }

std::string_view SourceOf(const Slot& root) {
  const bool is_list = root.cluster.empty() && root.group == kImportGroup &&
                       root.kind == kImportKind && root.ns.empty();
  return is_list ? std::string_view(root.name) : std::string_view();
}

std::string_view SourceOf(const Owner& owner) {
  return owner.record == Record::kImported ? SourceOf(owner.root) : std::string_view();
}

}  // namespace truce
