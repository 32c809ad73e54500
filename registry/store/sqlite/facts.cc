#include "registry/store/sqlite/facts.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>
#include <utility>

#include "registry/base/threads.h"
#include "registry/store/sqlite/records.h"

namespace truce {

ReaderPool::ReaderPool(ConnectionOptions options, std::size_t size_max)
    : options_(std::move(options)), size_max_(size_max) {}

ReaderPool::Loan::Loan(ReaderPool& pool, std::unique_ptr<Connection> connection)
    : pool_(pool), connection_(std::move(connection)) {}

ReaderPool::Loan::~Loan() {
  // What cannot end its snapshot would keep the log from ever shrinking: it goes, a new one comes.
  const bool usable = !connection_->InTransaction() || connection_->Run(Sql::kRollback).ok();
  if (usable) {
    pool_.Return(std::move(connection_));
  } else {
    connection_.reset();
    pool_.Forget();
  }
}

// The first read fixes the snapshot.
Result<void> ReaderPool::Loan::Begin() {
  TRUCE_RETURN_IF_ERROR(connection_->Run(Sql::kBeginRead));
  TRUCE_ASSIGN_OR_RETURN(Statement count, connection_->Use(Sql::kCommitCount));
  TRUCE_ASSIGN_OR_RETURN(const bool found, count.Step());
  if (!found) return Error{ErrorCode::kDataLoss, "table commits is empty"};
  version_ = static_cast<std::uint64_t>(count.Integer(0));
  return {};
}

Result<std::unique_ptr<ReaderPool::Loan>> ReaderPool::Borrow(Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, Take(deadline));
  if (connection == nullptr) {
    Result<std::unique_ptr<Connection>> opened = Connection::Open(options_);
    if (!opened.ok()) {
      Forget();
      return std::move(opened).error();
    }
    connection = std::move(opened).value();
  }
  auto loan = std::make_unique<Loan>(*this, std::move(connection));
  TRUCE_RETURN_IF_ERROR(loan->Begin());
  return loan;
}

// An idle connection, or null: the caller may open one.
Result<std::unique_ptr<Connection>> ReaderPool::Take(Deadline deadline) {
  std::unique_lock lock(mutex_);
  if (idle_.empty() && open_ == size_max_) {
    BlockingRegion blocking;
    const bool free =
        freed_.wait_until(lock, deadline, [this] { return !idle_.empty() || open_ < size_max_; });
    if (!free) {
      return Error{ErrorCode::kDeadlineExceeded, "no free connection for reading in time"};
    }
  }
  if (idle_.empty()) {
    ++open_;
    return std::unique_ptr<Connection>();
  }
  std::unique_ptr<Connection> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void ReaderPool::Return(std::unique_ptr<Connection> connection) {
  {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
  }
  freed_.notify_one();
}

void ReaderPool::Forget() {
  {
    std::lock_guard lock(mutex_);
    --open_;
  }
  freed_.notify_one();
}

namespace {

std::int64_t LimitOf(std::size_t limit) {
  constexpr auto kMax = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(limit, kMax));
}

template <typename T>
std::optional<T> First(std::vector<T> values) {
  if (values.empty()) return std::nullopt;
  return std::move(values.front());
}

Result<std::string> ReadText(const Statement& statement) { return std::string(statement.Text(0)); }
Result<std::int64_t> ReadInteger(const Statement& statement) { return statement.Integer(0); }

Sql SqlFor(OwnerList list) {
  switch (list) {
    case OwnerList::kAll: return Sql::kOwnersAfter;
    case OwnerList::kContested: return Sql::kContestedAfter;
    case OwnerList::kOrphaned: return Sql::kOrphanedAfter;
    case OwnerList::kImported: return Sql::kImportedAfter;
  }
  return Sql::kOwnersAfter;
}

}  // namespace

template <typename Bind, typename Each>
void SqlFacts::Visit(Sql sql, const Bind& bind, const Each& each) const {
  const auto visit = [&]() -> Result<void> {
    Connection* const reader = Reader();
    if (reader == nullptr) return {};
    TRUCE_ASSIGN_OR_RETURN(Statement statement, reader->Use(sql));
    bind(statement);
    while (true) {
      TRUCE_ASSIGN_OR_RETURN(const bool more, statement.Step());
      if (!more) return {};
      TRUCE_ASSIGN_OR_RETURN(const bool go_on, each(statement));
      if (!go_on) return {};
    }
  };
  // After a failure everything is empty; whoever asked learns of it before a decision counts.
  if (error_.has_value()) return;
  Result<void> visited = visit();
  if (!visited.ok()) Fail(std::move(visited).error());
}

template <typename T, typename Bind, typename Read>
std::vector<T> SqlFacts::Collect(Sql sql, const Bind& bind, const Read& read) const {
  std::vector<T> values;
  Visit(sql, bind, [&](const Statement& statement) -> Result<bool> {
    TRUCE_ASSIGN_OR_RETURN(T value, read(statement));
    values.push_back(std::move(value));
    return true;
  });
  if (error_.has_value()) values.clear();
  return values;
}

void SqlFacts::Fail(Error error) const {
  if (!error_.has_value()) error_ = std::move(error);
}

std::vector<Row> SqlFacts::RowsOfKeyFromSql(const KeyText& key) const {
  return Collect<Row>(
      Sql::kRowsOfKey, [&](Statement& statement) { statement.BindText(0, key.text); }, ReadRow);
}

std::optional<Owner> SqlFacts::OwnerOfFromSql(const KeyText& key) const {
  return First(Collect<Owner>(
      Sql::kOwnerOf, [&](Statement& statement) { statement.BindText(0, key.text); }, ReadOwner));
}

std::vector<ResourceName> SqlFacts::NamesFromSql(Sql sql, const KeyText& text) const {
  return Collect<ResourceName>(
      sql, [&](Statement& statement) { statement.BindText(0, text.text); }, ReadName);
}

SqlFacts::RowNumbers SqlFacts::NumbersOf(const Signposts& signposts, std::string_view text) const {
  const std::optional<std::uint64_t> state = StateRead();
  return state ? signposts.Find(text, *state) : std::vector<std::int64_t>();
}

template <typename T, typename Bind, typename Read>
std::vector<T> SqlFacts::CollectAt(const RowNumbers& numbers, std::pair<Sql, Sql> at_search,
                                   const Bind& bind, const Read& read) const {
  if (!numbers.has_value()) {
    return Collect<T>(
        at_search.second, [&](Statement& statement) { bind(statement, 0); }, read);
  }
  std::vector<T> values;
  // A number says where to look, not that the row is there: the statement asks for the rest too.
  for (const std::int64_t number : *numbers) {
    const auto bind_all = [&](Statement& statement) {
      statement.BindInteger(0, number);
      bind(statement, 1);
    };
    for (T& value : Collect<T>(at_search.first, bind_all, read)) values.push_back(std::move(value));
  }
  return values;
}

std::vector<Row> SqlFacts::RowsOfUid(const Uid& uid) const {
  const auto bind = [&](Statement& statement, int first) { statement.BindText(first, uid.text); };
  std::vector<Row> rows = CollectAt<Row>(NumbersOf(signposts_.rows_by_uid, uid.text),
                                         {Sql::kRowOfUid, Sql::kSearchRowsOfUid}, bind, ReadRow);
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
  return rows;
}

std::optional<Object> SqlFacts::ObjectByUid(const Uid& uid) const {
  const auto bind = [&](Statement& statement, int first) { statement.BindText(first, uid.text); };
  return First(CollectAt<Object>(NumbersOf(signposts_.objects_by_uid, uid.text),
                                 {Sql::kObjectOfUid, Sql::kSearchObjectOfUid}, bind, ReadObject));
}

std::optional<Object> SqlFacts::ObjectBySlot(const Slot& slot) const {
  const std::string kind = KindOf(slot);
  const auto bind = [&](Statement& statement, int first) {
    statement.BindText(first, kind);
    statement.BindText(first + 1, slot.ns);
    statement.BindText(first + 2, slot.name);
  };
  std::vector<Object> objects =
      CollectAt<Object>(NumbersOf(signposts_.objects_by_slot, ToText(slot)),
                        {Sql::kObjectOfSlot, Sql::kSearchObjectsOfSlot}, bind, ReadObject);
  const auto older = [](const Object& a, const Object& b) {
    return std::tie(a.at, a.uid) < std::tie(b.at, b.uid);
  };
  const auto youngest = std::max_element(objects.begin(), objects.end(), older);
  if (youngest == objects.end()) return std::nullopt;
  return std::move(*youngest);
}

std::vector<Object> SqlFacts::ChildrenOf(const Slot& slot) const {
  const std::string text = ToText(slot);
  return Collect<Object>(
      Sql::kChildrenOf, [&](Statement& statement) { statement.BindText(0, text); }, ReadObject);
}

// From memory, whatever commit the snapshot is of.
std::size_t SqlFacts::CountReserved(const ReservedRange& range, const std::set<GroupKind>& left_out,
                                    std::size_t limit) const {
  return known_.CountReserved(range, left_out, limit);
}

std::vector<KeyText> SqlFacts::KeysAfter(const KeyText& after, std::size_t limit) const {
  const auto bind = [&](Statement& statement) {
    statement.BindText(0, after.text);
    statement.BindInteger(1, LimitOf(limit));
  };
  const auto read = [](const Statement& statement) -> Result<KeyText> {
    return KeyText{std::string(statement.Text(0))};
  };
  return Collect<KeyText>(Sql::kKeysAfter, bind, read);
}

// By number: the order in which they came.
ObjectPage SqlFacts::ObjectsOfKind(const Slot& slot, std::string_view after,
                                   std::size_t limit) const {
  const std::string kind = KindOf(slot);
  std::int64_t last = 0;
  std::from_chars(after.data(), after.data() + after.size(), last);
  ObjectPage page;
  const auto read = [&](const Statement& statement) -> Result<bool> {
    last = statement.Integer(kObjectColumnCount);
    TRUCE_ASSIGN_OR_RETURN(Object object, ReadObject(statement));
    page.objects.push_back(std::move(object));
    return true;
  };
  const auto find = [&](Sql sql, std::int64_t number) {
    const std::size_t missing = limit - page.objects.size();
    const auto bind = [&](Statement& statement) {
      statement.BindText(0, kind);
      statement.BindInteger(1, number);
      if (sql == Sql::kSearchObjectsOfKind) statement.BindInteger(2, LimitOf(missing));
    };
    Visit(sql, bind, read);
  };
  while (page.objects.size() < limit) {
    const std::optional<std::uint64_t> state = StateRead();
    if (!state) break;
    const RowNumbers numbers =
        signposts_.objects_by_kind.After(kind, last, limit - page.objects.size(), *state);
    if (!numbers) find(Sql::kSearchObjectsOfKind, last);
    if (!numbers || numbers->empty()) break;
    // Some may be another kind's by its hash, or not in the state that is read.
    for (const std::int64_t number : *numbers) find(Sql::kObjectOfKind, number);
    last = numbers->back();
  }
  if (error_.has_value()) page.objects.clear();
  if (page.objects.size() == limit) page.next = std::to_string(last);
  return page;
}

std::vector<Row> SqlFacts::ReservedBefore(Timestamp before, const RowId& after,
                                          std::size_t limit) const {
  const auto bind = [&](Statement& statement) {
    statement.BindInteger(0, before.time_since_epoch().count());
    statement.BindText(1, after.key.text);
    statement.BindText(2, after.uid.text);
    statement.BindInteger(3, LimitOf(limit));
  };
  return Collect<Row>(Sql::kReservedBefore, bind, ReadRow);
}

std::vector<Row> SqlFacts::ObserversAfter(const RowId& after, std::size_t limit) const {
  const auto bind = [&](Statement& statement) {
    statement.BindText(0, after.key.text);
    statement.BindText(1, after.uid.text);
    statement.BindText(2, after.state == RowState::kSeen ? "seen" : "reserved");
    statement.BindInteger(3, LimitOf(limit));
  };
  return Collect<Row>(Sql::kObserversAfter, bind, ReadRow);
}

std::uint64_t SqlFacts::CountSeen(std::string_view cluster) const {
  const std::string slots = std::string(cluster) + '/';
  const auto bind = [&](Statement& statement) { statement.BindText(0, slots); };
  const auto count = First(Collect<std::int64_t>(Sql::kCountSeen, bind, ReadInteger));
  return static_cast<std::uint64_t>(count.value_or(0));
}

// Those of this transaction stand where its decisions count (BatchFacts::CountOwned).
std::vector<PlaceCount> SqlFacts::PlacesOf(std::string_view type, std::size_t limit) const {
  return known_.PlacesOf(type, limit);
}

std::vector<Owner> SqlFacts::OwnersIn(OwnerList list, const KeyText& after,
                                      std::size_t limit) const {
  const auto bind = [&](Statement& statement) {
    statement.BindText(0, after.text);
    statement.BindInteger(1, LimitOf(limit));
  };
  return Collect<Owner>(SqlFor(list), bind, ReadOwner);
}

std::vector<AuditLine> SqlFacts::AuditLines(const AuditRange& range, std::size_t limit) const {
  auto from = static_cast<std::int64_t>(range.from);
  auto until = range.until == 0 ? std::numeric_limits<std::int64_t>::max()
                                : static_cast<std::int64_t>(range.until);
  if (range.behind) {
    const auto number = static_cast<std::int64_t>(range.behind->number);
    if (range.newest_first) {
      until = std::min(until, number);
    } else {
      from = std::max(from, number + 1);
    }
  }
  const auto bind = [&](Statement& statement) {
    statement.BindInteger(0, from);
    statement.BindInteger(1, until);
    statement.BindInteger(2, LimitOf(limit));
    if (!range.id.empty()) statement.BindText(3, range.id.text);
  };
  const auto read = [](const Statement& statement) -> Result<AuditLine> {
    TRUCE_ASSIGN_OR_RETURN(AuditEntry entry, ReadAudit(statement));
    const auto number = static_cast<std::uint64_t>(statement.Integer(kAuditColumnCount));
    return AuditLine{{.number = number}, std::move(entry)};
  };
  const Sql of_all = range.newest_first ? Sql::kAuditNewestFirst : Sql::kAuditOldestFirst;
  const Sql of_id = range.newest_first ? Sql::kAuditOfIdNewestFirst : Sql::kAuditOfIdOldestFirst;
  return Collect<AuditLine>(range.id.empty() ? of_all : of_id, bind, read);
}

std::vector<Agreement> SqlFacts::AgreementsOf(const KeyText& key) const {
  return Collect<Agreement>(
      Sql::kAgreementsOf, [&](Statement& statement) { statement.BindText(0, key.text); },
      ReadAgreement);
}

std::optional<Agreement> SqlFacts::AgreementById(const PublicId& id) const {
  return First(Collect<Agreement>(
      Sql::kAgreementById, [&](Statement& statement) { statement.BindText(0, id.text); },
      ReadAgreement));
}

std::vector<Agreement> SqlFacts::AgreementsAfter(AgreementKind kind, const PublicId& after,
                                                 std::size_t limit) const {
  const auto bind = [&](Statement& statement) {
    statement.BindText(0, WordOf(kind));
    statement.BindText(1, after.text);
    statement.BindInteger(2, LimitOf(limit));
  };
  return Collect<Agreement>(Sql::kAgreementsAfter, bind, ReadAgreement);
}

std::optional<std::string> SqlFacts::Setting(std::string_view name) const {
  return First(Collect<std::string>(
      Sql::kSetting, [&](Statement& statement) { statement.BindText(0, name); }, ReadText));
}

std::optional<Owner> BatchFacts::OwnerOf(const KeyText& key) const {
  std::optional<Owner> owner;
  const auto written = written_.keys.find(key);
  if (written != written_.keys.end() && written->second.owner_changed) {
    // Not durable yet: an answer that rests on it waits for this batch, also when it writes
    // nothing.
    saw_uncommitted_ = true;
    if (written->second.owner != nullptr) owner = *written->second.owner;
    return owner;
  }
  std::uint64_t version = 0;
  Result<void> found = known_.OwnerOf(key, owner, version);
  if (!found.ok()) Fail(std::move(found).error());
  return owner;
}

bool BatchFacts::HasOwner(const KeyText& key) const {
  const auto written = written_.keys.find(key);
  if (written == written_.keys.end() || !written->second.owner_changed) {
    return known_.PresenceOf(key).has_owner;
  }
  saw_uncommitted_ = true;
  return written->second.owner != nullptr;
}

std::vector<Row> BatchFacts::RowsOfKey(const KeyText& key) const {
  const auto written = written_.keys.find(key);
  const bool is_written = written != written_.keys.end();
  const bool may_have_rows =
      is_written ? written->second.has_rows : known_.PresenceOf(key).may_have_rows;
  if (is_written) saw_uncommitted_ = true;
  if (!may_have_rows) return {};
  const bool saw_uncommitted = saw_uncommitted_;
  std::vector<Row> rows = RowsOfKeyFromSql(key);
  // Rows of a key that this batch did not write are committed ones.
  saw_uncommitted_ = saw_uncommitted;
  return rows;
}

std::optional<ResourceName> BatchFacts::FurtherName(const KeyText& name) const {
  const auto& written = written_.names.by_name();
  const auto found = written.find(name);
  if (found == written.end()) {
    std::uint64_t version = 0;
    return known_.FurtherName(name, version);
  }
  saw_uncommitted_ = true;
  if (found->second == nullptr) return std::nullopt;
  return *found->second;
}

std::vector<ResourceName> BatchFacts::FurtherNamesOf(const KeyText& key) const {
  std::uint64_t version = 0;
  std::vector<ResourceName> names = known_.FurtherNamesOf(key, version);
  if (written_.names.empty()) return names;
  const auto overtaken = std::erase_if(names, [&](const ResourceName& name) {
    return written_.names.by_name().contains(name.name);
  });
  const std::vector<const ResourceName*> put = written_.names.PutAt(key);
  saw_uncommitted_ = saw_uncommitted_ || overtaken > 0 || !put.empty();
  for (const ResourceName* const name : put) names.push_back(*name);
  std::sort(names.begin(), names.end(),
            [](const ResourceName& a, const ResourceName& b) { return a.name < b.name; });
  return names;
}

std::size_t BatchFacts::CountReserved(const ReservedRange& range,
                                      const std::set<GroupKind>& left_out,
                                      std::size_t limit) const {
  const ReservationChanges& changes = written_.reservations;
  saw_uncommitted_ = saw_uncommitted_ || std::ranges::any_of(changes, [&](const auto& change) {
                       return Counts(range, left_out, change.first);
                     });
  return known_.CountReserved(range, left_out, limit, changes);
}

std::uint64_t BatchFacts::CountOwned(const OwnedRange& range) const {
  auto count = static_cast<std::int64_t>(known_.CountOwned(range));
  for (const auto& [place, change] : written_.places.all()) {
    if (!IsIn(range, place)) continue;
    saw_uncommitted_ = true;
    count += change;
  }
  return static_cast<std::uint64_t>(count);
}

std::vector<Owner> BatchFacts::OwnersOfShape(std::string_view shape, std::size_t limit) const {
  if (shape.empty()) return {};
  std::uint64_t version = 0;
  // So many more of them may be overtaken.
  std::vector<KeyText> keys = known_.KeysOfShape(shape, limit + written_.keys.size(), version);
  for (const auto& [key, change] : written_.keys) {
    if (!change.owner_changed) continue;
    const bool was = std::erase(keys, key) > 0;
    const bool is = change.owner != nullptr && change.owner->shape == shape;
    if (is) keys.push_back(key);
    saw_uncommitted_ = saw_uncommitted_ || was || is;
  }
  std::sort(keys.begin(), keys.end());
  if (keys.size() > limit) keys.resize(limit);
  std::vector<Owner> owners;
  for (const KeyText& key : keys) {
    if (std::optional<Owner> owner = OwnerOf(key)) owners.push_back(*std::move(owner));
  }
  return owners;
}

Connection* BatchFacts::Reader() const {
  saw_uncommitted_ = saw_uncommitted_ || !written_.empty() || writer_.InTransaction();
  return &writer_;
}

// The writer's own state is never older than memory.
std::optional<std::uint64_t> BatchFacts::StateRead() const {
  return std::numeric_limits<std::uint64_t>::max() / 2;
}

std::optional<Owner> SnapshotFacts::OwnerOf(const KeyText& key) const {
  std::optional<Owner> owner;
  if (FromSnapshot()) {
    owner = OwnerOfFromSql(key);
    return owner;
  }
  std::uint64_t version = 0;
  Result<void> found = known_.OwnerOf(key, owner, version);
  if (found.ok()) {
    Saw(version);
  } else {
    Fail(std::move(found).error());
  }
  return owner;
}

bool SnapshotFacts::HasOwner(const KeyText& key) const {
  if (FromSnapshot()) return OwnerOfFromSql(key).has_value();
  const Known::Presence presence = known_.PresenceOf(key);
  Saw(presence.version);
  return presence.has_owner;
}

std::vector<Row> SnapshotFacts::RowsOfKey(const KeyText& key) const {
  if (!FromSnapshot()) {
    const Known::Presence presence = known_.PresenceOf(key);
    Saw(presence.version);
    if (!presence.may_have_rows) return {};
  }
  return RowsOfKeyFromSql(key);
}

std::optional<ResourceName> SnapshotFacts::FurtherName(const KeyText& name) const {
  std::uint64_t version = 0;
  std::optional<ResourceName> known = known_.FurtherName(name, version);
  return IsOfMemory(version) ? known : First(NamesFromSql(Sql::kFurtherName, name));
}

std::vector<ResourceName> SnapshotFacts::FurtherNamesOf(const KeyText& key) const {
  std::uint64_t version = 0;
  std::vector<ResourceName> known = known_.FurtherNamesOf(key, version);
  return IsOfMemory(version) ? known : NamesFromSql(Sql::kFurtherNamesOf, key);
}

// From a snapshot those that memory has as well, and nearly always has: it is a commit before or
// behind.
std::vector<Owner> SnapshotFacts::OwnersOfShape(std::string_view shape, std::size_t limit) const {
  std::uint64_t version = 0;
  const std::vector<KeyText> keys = known_.KeysOfShape(shape, limit, version);
  if (!FromSnapshot()) Saw(version);
  std::vector<Owner> owners;
  for (const KeyText& key : keys) {
    std::optional<Owner> owner = OwnerOf(key);
    if (owner && owner->shape == shape) owners.push_back(*std::move(owner));
  }
  return owners;
}

// From memory, whatever commit the snapshot is of: to count there would be to look at every owner.
std::uint64_t SnapshotFacts::CountOwned(const OwnedRange& range) const {
  return known_.CountOwned(range);
}

bool SnapshotFacts::IsOfMemory(std::uint64_t version) const {
  if (FromSnapshot()) return Reader() != nullptr && loan_->version() == version;
  Saw(version);
  return true;
}

Connection* SnapshotFacts::Reader() const {
  if (loan_ != nullptr) return &loan_->connection();
  Result<std::unique_ptr<ReaderPool::Loan>> loan = pool_.Borrow(deadline_);
  if (!loan.ok()) {
    Fail(std::move(loan).error());
    return nullptr;
  }
  loan_ = std::move(loan).value();
  Saw(loan_->version());
  return &loan_->connection();
}

// Of the snapshot: memory may have moved on meanwhile, or come behind by a commit.
std::optional<std::uint64_t> SnapshotFacts::StateRead() const {
  if (Reader() == nullptr) return std::nullopt;
  return loan_->version();
}

void SnapshotFacts::Saw(std::uint64_t version) const {
  // A commit came between two reads: what was read is of no one state, and is read again.
  if (version_.value_or(version) != version) overtaken_ = true;
  version_ = version;
}

}  // namespace truce
