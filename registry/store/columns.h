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

  template <typename T>
  Result<T> Finish(T value) && {
    if (error_.empty()) return value;
    return Error{ErrorCode::kDataLoss, std::move(error_)};
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

// One a line, as OwnerTexts::left.
inline std::string SlotLines(const std::vector<Slot>& slots) {
  std::string lines;
  for (const Slot& slot : slots) lines.append(ToText(slot)).append(1, '\n');
  return lines;
}

// The column `kind` of a slot: "cluster/group/kind".
inline std::string KindOf(const Slot& slot) {
  return slot.cluster + '/' + slot.group + '/' + slot.kind;
}

// An owner as its columns: texts that others hold.
struct OwnerTexts {
  std::string_view key;
  std::string_view id;
  std::string_view root;
  std::string_view party;
  std::string_view service;
  std::string_view contact;
  std::string_view arn;
  std::string_view name;
  std::string_view identity;
  std::string_view shape;
  std::string_view record_reason;
  std::string_view successor;
  std::string_view leaf;  // empty: none
  std::string_view left;  // one slot a line
  bool owned = true;      // false: a key without owner, all else is empty
  bool contested = false;
  std::int64_t since = 0;
  bool real = false;
  bool managed_once = false;
  Record record = Record::kNone;
  HolderState state = HolderState::kReserved;
};

// Fills in a fresh `owner`: most readers read many, and moving one is not cheap. Errors: kDataLoss
// when a slot, an identity or a word cannot be read; the owner is then of no use.
inline Result<void> FillOwner(const OwnerTexts& texts, Owner& owner) {
  ColumnReader reader("owners");
  owner.key.text = texts.key;
  owner.id.text = texts.id;
  reader.FillSlot(texts.root, owner.root);
  owner.party.text = texts.party;
  owner.service = texts.service;
  owner.contact = texts.contact;
  owner.arn = texts.arn;
  owner.name = texts.name;
  reader.FillIdentity(texts.identity, owner.identity);
  owner.shape = texts.shape;
  owner.since = TimeFrom(texts.since);
  owner.real = texts.real;
  owner.record = texts.record;
  owner.record_reason = texts.record_reason;
  owner.successor = texts.successor;
  owner.state = texts.state;
  if (texts.leaf == texts.root) {
    owner.leaf = owner.root;
  } else {
    owner.leaf = reader.FromOptionalSlot(texts.leaf);
  }
  owner.contested = texts.contested;
  owner.managed_once = texts.managed_once;
  for (const std::string& slot : LinesOf(texts.left)) owner.left.push_back(reader.FromSlot(slot));
  return std::move(reader).Finish();
}

// The readers take the present record of `columns`, which has the texts (Text), numbers (Integer)
// and absences (IsNull) of its columns by their place, from 0. Errors: kDataLoss.
template <typename Columns>
Result<OwnerTexts> OwnerTextsFrom(const Columns& columns) {
  ColumnReader reader("owners");
  OwnerTexts texts;
  texts.key = reader.NotEmpty(columns.Text(0));
  texts.owned = columns.Integer(1) != 0;
  texts.id = columns.Text(2);
  texts.root = columns.Text(3);
  texts.party = columns.Text(4);
  texts.service = columns.Text(5);
  texts.contact = columns.Text(6);
  texts.arn = columns.Text(7);
  texts.name = columns.Text(8);
  texts.identity = columns.Text(9);
  texts.shape = columns.Text(10);
  texts.since = columns.Integer(11);
  texts.real = columns.Integer(12) != 0;
  texts.record = reader.FromWord(kRecords, columns.Text(13));
  texts.record_reason = columns.Text(14);
  texts.successor = columns.Text(15);
  texts.state = reader.FromWord(kHolderStates, columns.Text(16));
  if (!columns.IsNull(17)) texts.leaf = columns.Text(17);
  if (!columns.IsNull(17) && texts.leaf.empty()) texts.leaf = texts.root;
  texts.contested = columns.Integer(18) != 0;
  texts.managed_once = columns.Integer(19) != 0;
  texts.left = columns.Text(20);
  return std::move(reader).Finish(texts);
}

template <typename Columns>
Result<Owner> OwnerFrom(const Columns& columns) {
  TRUCE_ASSIGN_OR_RETURN(const OwnerTexts texts, OwnerTextsFrom(columns));
  Owner owner;
  TRUCE_RETURN_IF_ERROR(FillOwner(texts, owner));
  return owner;
}

template <typename Columns>
Result<Row> RowFrom(const Columns& columns) {
  ColumnReader reader("declarations");
  Row row;
  row.id.key.text = reader.NotEmpty(columns.Text(0));
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
  return std::move(reader).Finish(std::move(row));
}

template <typename Columns>
Result<Object> ObjectFrom(const Columns& columns) {
  ColumnReader reader("objects");
  Object object;
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
  object.told = columns.Text(14);
  if (!columns.IsNull(15)) object.stripped = std::bit_cast<std::uint64_t>(columns.Integer(15));
  object.at = TimeFrom(columns.Integer(16));
  return std::move(reader).Finish(std::move(object));
}

template <typename Columns>
Result<AuditEntry> AuditFrom(const Columns& columns) {
  ColumnReader reader("audit");
  AuditEntry entry;
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
  return std::move(reader).Finish(std::move(entry));
}

template <typename Columns>
Result<Agreement> AgreementFrom(const Columns& columns) {
  ColumnReader reader("agreements");
  Agreement agreement;
  agreement.id.text = reader.NotEmpty(columns.Text(0));
  agreement.kind = reader.FromWord(kAgreementKinds, columns.Text(1));
  agreement.key.text = reader.NotEmpty(columns.Text(2));
  agreement.party.text = columns.Text(3);
  agreement.level = reader.FromWord(kShareLevels, columns.Text(4));
  agreement.accepted = columns.Integer(5) != 0;
  agreement.successor = columns.Text(6);
  agreement.reason = columns.Text(7);
  agreement.actor = columns.Text(8);
  agreement.at = TimeFrom(columns.Integer(9));
  if (!columns.IsNull(10)) agreement.until = TimeFrom(columns.Integer(10));
  return std::move(reader).Finish(std::move(agreement));
}

template <typename Columns>
Result<ResourceName> NameFrom(const Columns& columns) {
  ColumnReader reader("names");
  ResourceName name;
  name.name.text = reader.NotEmpty(columns.Text(0));
  name.key.text = reader.NotEmpty(columns.Text(1));
  name.sort = reader.FromWord(kNameSorts, columns.Text(2));
  name.observed = columns.Integer(3) != 0;
  name.at = TimeFrom(columns.Integer(4));
  return std::move(reader).Finish(std::move(name));
}

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_COLUMNS_H_
