// Rows, owners, objects and audit entries as columns, for every adapter that keeps them in tables.
//
// The words for enumerations are the ones of the schemas: they are on people's disks, and a changed
// word for people must not reach them.
#ifndef TRUCE_REGISTRY_STORE_COLUMNS_H_
#define TRUCE_REGISTRY_STORE_COLUMNS_H_

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/name_table.h"
#include "registry/base/result.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/terms.h"

namespace truce {

// A value outside of its enumeration becomes a word that the schema's CHECK refuses.
inline constexpr NameTable<RowState::kSeen> kRowStates("reserved", "seen");
inline constexpr NameTable<Intent::kDeletes> kIntents("observes", "manages", "deletes");
inline constexpr NameTable<Record::kTransferring> kRecords("none", "orphaned", "imported",
                                                           "transferring");
inline constexpr NameTable<HolderState::kTerminating> kHolderStates("reserved", "held",
                                                                    "terminating");
inline constexpr NameTable<AuditAction::kAdministered> kAuditActions("granted", "conflict",
                                                                     "released", "passed",
                                                                     "orphaned", "transferred",
                                                                     "moved", "administered");
inline constexpr NameTable<AgreementKind::kProtection> kAgreementKinds("share", "transfer",
                                                                       "protection");
inline constexpr NameTable<ShareLevel::kAttach> kShareLevels("observe", "attach");
inline constexpr NameTable<NameSort::kFormerId> kNameSorts("declared", "located", "assigned",
                                                           "former-id");

// Collects the first thing that cannot be read.
class ColumnReader {
 public:
  explicit ColumnReader(std::string_view table) : table_(table) {}

  template <auto kLast>
  decltype(kLast) FromWord(const NameTable<kLast>& words, std::string_view word) {
    const auto value = words.Find(word);
    if (!value) Fail(word);
    return value.value_or(decltype(kLast){});
  }

  // A text that the port promises not to be empty.
  std::string_view NotEmpty(std::string_view text) {
    if (text.empty()) Fail(text);
    return text;
  }

  void FillSlot(std::string_view text, Slot& slot) {
    if (!ReadSlot(text, slot)) Fail(text);
  }

  Slot FromSlot(std::string_view text) {
    Slot slot;
    FillSlot(text, slot);
    return slot;
  }

  std::optional<Slot> FromOptionalSlot(std::string_view text) {
    if (text.empty()) return std::nullopt;
    return FromSlot(text);
  }

  void FillIdentity(std::string_view text, ResourceIdentity& identity) {
    if (!ReadIdentity(text, identity)) Fail(text);
  }

  Result<void> Finish() && {
    if (error_.empty()) return {};
    return Error{ErrorCode::kDataLoss, std::move(error_)};
  }

 private:
  void Fail(std::string_view text) {
    if (!error_.empty()) return;
    error_ = "unreadable value in table " + std::string(table_) + ": \"" + std::string(text) + "\"";
  }

  std::string_view table_;
  std::string error_;
};

inline Timestamp TimeFrom(std::int64_t milliseconds) {
  return Timestamp(std::chrono::milliseconds(milliseconds));
}

inline std::int64_t Milliseconds(Timestamp time) { return time.time_since_epoch().count(); }

// A root is mostly the slot beside it, which is then not repeated.
inline std::optional<std::string> RootBeside(const Slot& slot, const Slot& root) {
  if (root == slot) return std::nullopt;
  return ToText(root);
}

// The leaf is mostly the root itself: ''.
inline std::optional<std::string> LeafBeside(const Slot& root, const std::optional<Slot>& leaf) {
  if (!leaf.has_value()) return std::nullopt;
  return *leaf == root ? std::string() : ToText(*leaf);
}

inline std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// An unsigned number by its bits: SQLite's are signed.
inline std::optional<std::int64_t> AsBits(const std::optional<std::uint64_t>& number) {
  if (!number) return std::nullopt;
  return std::bit_cast<std::int64_t>(*number);
}

inline std::optional<std::int64_t> OptionalTime(const std::optional<Timestamp>& time) {
  if (!time) return std::nullopt;
  return Milliseconds(*time);
}

// One a line, as Owner::left.
inline std::string SlotLines(const std::vector<Slot>& slots) {
  std::string lines;
  for (const Slot& slot : slots) lines.append(ToText(slot)).append(1, '\n');
  return lines;
}

// The column `kind` of a slot: "cluster/group/kind".
inline std::string KindOf(const Slot& slot) {
  return slot.cluster + '/' + slot.group + '/' + slot.kind;
}

// The present record of `columns`, which has all of the table's, in their order.
template <typename Columns>
TableRow TableRowFrom(const Table& table, const Columns& columns) {
  TableRow row(table.columns.size());
  int at = 0;
  for (TableValue& value : row) {
    const bool is_number = table.columns[static_cast<std::size_t>(at)].is_number;
    if (!columns.IsNull(at) && is_number) value = columns.Integer(at);
    if (!columns.IsNull(at) && !is_number) value = std::string(columns.Text(at));
    ++at;
  }
  return row;
}

// The readers fill an empty value from the present record of `columns`, which has the texts (Text),
// numbers (Integer) and absences (IsNull) of its columns by their place, from 0. In place: a move
// of an owner costs as much as a search for it. Errors: kDataLoss.
template <typename Columns>
Result<void> Fill(const Columns& columns, Owner& owner) {
  ColumnReader reader("owners");
  owner.key.text = reader.NotEmpty(columns.Text(0));
  if (!columns.IsNull(1)) owner.until = TimeFrom(columns.Integer(1));
  owner.id.text = reader.NotEmpty(columns.Text(2));
  reader.FillSlot(columns.Text(3), owner.root);
  owner.party.text = columns.Text(4);
  owner.service = columns.Text(5);
  owner.contact = columns.Text(6);
  owner.arn = columns.Text(7);
  owner.name = columns.Text(8);
  reader.FillIdentity(columns.Text(9), owner.identity);
  owner.shape = columns.Text(10);
  owner.since = TimeFrom(columns.Integer(11));
  owner.real = columns.Integer(12) != 0;
  owner.record = reader.FromWord(kRecords, columns.Text(13));
  owner.record_reason = columns.Text(14);
  owner.successor = columns.Text(15);
  owner.state = reader.FromWord(kHolderStates, columns.Text(16));
  if (!columns.IsNull(17)) {
    const std::string_view leaf = columns.Text(17);
    owner.leaf = leaf.empty() ? owner.root : reader.FromSlot(leaf);
  }
  owner.contested = columns.Integer(18) != 0;
  owner.managed_once = columns.Integer(19) != 0;
  for (const std::string& slot : LinesOf(columns.Text(20))) {
    owner.left.push_back(reader.FromSlot(slot));
  }
  return std::move(reader).Finish();
}

template <typename Columns>
Result<void> Fill(const Columns& columns, Row& row) {
  ColumnReader reader("declarations");
  row.id.resource.text = reader.NotEmpty(columns.Text(0));
  row.id.uid.text = reader.NotEmpty(columns.Text(1));
  row.id.state = reader.FromWord(kRowStates, columns.Text(2));
  reader.FillSlot(columns.Text(3), row.slot);
  row.root = columns.IsNull(4) ? row.slot : reader.FromSlot(columns.Text(4));
  row.intent = reader.FromWord(kIntents, columns.Text(5));
  row.terminating = columns.Integer(6) != 0;
  row.managed = columns.Integer(7) != 0;
  reader.FillIdentity(columns.Text(8), row.identity);
  row.review.text = columns.Text(9);
  row.digest = columns.Text(10);
  if (!columns.IsNull(11)) row.base = std::bit_cast<std::uint64_t>(columns.Integer(11));
  row.user = columns.Text(12);
  row.at = TimeFrom(columns.Integer(13));
  if (!columns.IsNull(14)) row.created = TimeFrom(columns.Integer(14));
  row.account_fields = columns.Text(15);
  return std::move(reader).Finish();
}

template <typename Columns>
Result<void> Fill(const Columns& columns, Object& object) {
  ColumnReader reader("objects");
  object.uid.text = reader.NotEmpty(columns.Text(0));
  std::string slot(columns.Text(1));
  slot.append(1, '/').append(columns.Text(2)).append(1, '/').append(columns.Text(3));
  reader.FillSlot(slot, object.slot);
  object.parent = reader.FromOptionalSlot(columns.Text(4));
  object.parent_uid.text = columns.Text(5);
  object.root = columns.IsNull(6) ? object.slot : reader.FromSlot(columns.Text(6));
  object.link = columns.Text(7);
  object.names = LinesOf(columns.Text(8));
  object.service = columns.Text(9);
  object.contact = columns.Text(10);
  object.composes = columns.Integer(11) != 0;
  object.own_party = columns.Integer(12) != 0;
  object.transfer_to = columns.Text(13);
  object.unproven_marks = columns.Text(14);
  if (!columns.IsNull(15)) object.stripped = std::bit_cast<std::uint64_t>(columns.Integer(15));
  object.at = TimeFrom(columns.Integer(16));
  return std::move(reader).Finish();
}

template <typename Columns>
Result<void> Fill(const Columns& columns, AuditEntry& entry) {
  ColumnReader reader("audit");
  entry.at = TimeFrom(columns.Integer(0));
  entry.action = reader.FromWord(kAuditActions, columns.Text(1));
  entry.key.text = columns.Text(2);
  entry.id.text = columns.Text(3);
  reader.FillSlot(columns.Text(4), entry.root);
  reader.FillSlot(columns.Text(5), entry.slot);
  entry.uid.text = columns.Text(6);
  entry.cause = columns.Text(7);
  entry.actor = columns.Text(8);
  entry.review.text = columns.Text(9);
  return std::move(reader).Finish();
}

template <typename Columns>
Result<void> Fill(const Columns& columns, Agreement& agreement) {
  ColumnReader reader("agreements");
  agreement.id.text = reader.NotEmpty(columns.Text(0));
  agreement.kind = reader.FromWord(kAgreementKinds, columns.Text(1));
  agreement.resource.text = reader.NotEmpty(columns.Text(2));
  agreement.party.text = columns.Text(3);
  agreement.level = reader.FromWord(kShareLevels, columns.Text(4));
  agreement.accepted = columns.Integer(5) != 0;
  agreement.successor = columns.Text(6);
  agreement.reason = columns.Text(7);
  agreement.actor = columns.Text(8);
  agreement.at = TimeFrom(columns.Integer(9));
  if (!columns.IsNull(10)) agreement.until = TimeFrom(columns.Integer(10));
  return std::move(reader).Finish();
}

template <typename Columns>
Result<void> Fill(const Columns& columns, ResourceName& name) {
  ColumnReader reader("names");
  name.name.text = reader.NotEmpty(columns.Text(0));
  name.resource.text = reader.NotEmpty(columns.Text(1));
  name.sort = reader.FromWord(kNameSorts, columns.Text(2));
  name.observed = columns.Integer(3) != 0;
  name.at = TimeFrom(columns.Integer(4));
  name.spelling = static_cast<std::uint32_t>(columns.Integer(5));
  return std::move(reader).Finish();
}

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_COLUMNS_H_
