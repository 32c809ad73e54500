#include "registry/store/sqlite/committer.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "registry/base/assert.h"
#include "registry/base/threads.h"
#include "registry/store/adapter.h"
#include "registry/store/sqlite/records.h"

namespace truce {
namespace {

Error TooLate() {
  return {ErrorCode::kDeadlineExceeded,
          "the deadline passed before the decision's turn; nothing was written"};
}

Error OutcomeUnknown() {
  return {ErrorCode::kDeadlineExceeded, "the deadline passed during the commit"};
}

}  // namespace

bool Request::Start() {
  std::unique_lock lock(mutex_);
  if (stage_ == Stage::kGone) return false;
  if (std::chrono::steady_clock::now() < deadline_) {
    stage_ = Stage::kDeciding;
    return true;
  }
  lock.unlock();
  Finish(TooLate());
  return false;
}

void Request::Decided() {
  std::lock_guard lock(mutex_);
  stage_ = Stage::kDecided;
  // Only a caller that is past its deadline waits for this.
  if (std::chrono::steady_clock::now() >= deadline_) changed_.notify_one();
}

void Request::Finish(Result<void> result) {
  if (done_) {
    // Without memory to be told, it learns nothing before its deadline.
    try {
      done_(std::move(result));
    } catch (const std::exception&) {
    }
    return;
  }
  std::lock_guard lock(mutex_);
  stage_ = Stage::kFinished;
  result_ = std::move(result);
  changed_.notify_one();
}

Result<void> Request::Wait() {
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, deadline_, [this] { return stage_ == Stage::kFinished; })) {
    return std::move(result_);
  }
  if (stage_ == Stage::kQueued) {
    // Nothing was decided, and nothing will be: its caller may know that.
    stage_ = Stage::kGone;
    return TooLate();
  }
  changed_.wait(lock, [this] { return stage_ != Stage::kDeciding; });
  if (stage_ == Stage::kFinished) return std::move(result_);
  return OutcomeUnknown();
}

Result<void> RequestQueue::Queue(std::shared_ptr<Request> request) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return Error{ErrorCode::kUnavailable, "the store is closing"};
    if (requests_.size() >= length_max_) {
      return Error{ErrorCode::kResourceExhausted, "too many writes wait for the disk"};
    }
    requests_.push_back(std::move(request));
  }
  arrived_.notify_one();
  return {};
}

Result<void> RequestQueue::Apply(const DecideFn& decide, Deadline deadline) {
  const auto request = std::make_shared<Request>(decide, deadline);
  TRUCE_RETURN_IF_ERROR(Queue(request));
  BlockingRegion blocking;
  return request->Wait();
}

void RequestQueue::Submit(DecideFn decide, Deadline deadline, OnDone done) {
  const auto request = std::make_shared<Request>(std::move(decide), deadline, std::move(done));
  Result<void> queued = Queue(request);
  if (!queued.ok()) request->Finish(std::move(queued));
}

std::optional<RequestQueue::Batch> RequestQueue::Take(std::size_t length_max, Deadline deadline) {
  std::unique_lock lock(mutex_);
  arrived_.wait_until(lock, deadline, [this] { return closed_ || !requests_.empty(); });
  if (requests_.empty() && closed_) return std::nullopt;
  const std::size_t length = std::min(length_max, requests_.size());
  const auto end = requests_.begin() + static_cast<std::ptrdiff_t>(length);
  Batch batch(std::make_move_iterator(requests_.begin()), std::make_move_iterator(end));
  requests_.erase(requests_.begin(), end);
  return batch;
}

void RequestQueue::Close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_one();
}

namespace {

// The id in the first row of a statement, or nothing.
Result<RowNumber> NumberIn(Statement& statement) {
  TRUCE_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return RowNumber();
  return RowNumber(statement.Integer(0));
}

Result<void> DropAt(Connection& writer, Sql sql, std::int64_t number) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, writer.Use(sql));
  statement.BindInteger(0, number);
  return statement.Run();
}

Result<void> DropText(Connection& writer, Sql sql, std::string_view text) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, writer.Use(sql));
  statement.BindText(0, text);
  return statement.Run();
}

Result<void> PutSetting(Connection& writer, std::string_view name, std::string_view value) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, writer.Use(Sql::kPutSetting));
  statement.BindText(0, name);
  statement.BindText(1, value);
  return statement.Run();
}

bool Puts(const Changes& changes, const KeyText& owner) {
  return std::any_of(changes.put_owners.begin(), changes.put_owners.end(),
                     [&owner](const Owner& put) { return put.key == owner; });
}

}  // namespace

void WriteHealth::Worked() {
  state_.With([](State& state) { state.last_failure.reset(); });
}

void WriteHealth::Failed(const Error& error) {
  state_.With([&](State& state) { state.last_failure = error; });
}

void WriteHealth::Damaged(const Error& error) {
  state_.With([&](State& state) { state.damage = error; });
}

Result<void> WriteHealth::Get() const {
  return state_.With([](const State& state) -> Result<void> {
    if (state.damage.has_value()) return *state.damage;
    if (state.last_failure.has_value()) return *state.last_failure;
    return {};
  });
}

std::optional<Error> WriteHealth::damage() const {
  return state_.With([](const State& state) { return state.damage; });
}

void Committer::Run(const RequestQueue::Batch& batch, const std::optional<Error>& write_refusal) {
  for (const std::shared_ptr<Request>& request : batch) {
    if (request->Start()) Decide(request, write_refusal);
  }
  // One sync of the disk for all of them.
  const Result<void> committed = Commit();
  if (!committed.ok()) return;  // Commit has answered them
  const Burst burst;
  for (const Waiting& waiting : waiting_) waiting.request->Finish({});
  waiting_.clear();
  written_.clear();
}

void Committer::Probe() {
  if (writer_.Run(Sql::kBegin).ok()) static_cast<void>(Commit().ok());
}

void Committer::Decide(const std::shared_ptr<Request>& request,
                       const std::optional<Error>& write_refusal) {
  BatchFacts facts(writer_, known_, signposts_, written_);
  const bool in_transaction = writer_.InTransaction();
  Changes changes;
  std::optional<Error> failure;
  // One faulty decision must not end the thread on which all others are written.
  try {
    changes = request->decide()(facts);
  } catch (const std::exception& exception) {
    failure = Error{ErrorCode::kInternal, "the decision failed: " + std::string(exception.what())};
  }
  request->Decided();
  if (facts.error().has_value()) {
    failure = Report(*facts.error());
    // SQLite takes the transaction back when one of its reads meets a broken disk.
    if (in_transaction && !writer_.InTransaction()) Abandon(*failure);
  }
  if (!failure.has_value()) {
    if (Result<void> sound = CheckChanges(changes); !sound.ok()) failure = std::move(sound).error();
  }
  if (failure.has_value()) {
    request->Finish(*std::move(failure));
  } else if (changes.empty()) {
    // What rests on this batch is as durable as the batch (I3).
    if (!facts.saw_uncommitted()) {
      request->Finish({});
    } else {
      waiting_.push_back({request, {}});
    }
  } else if (write_refusal.has_value()) {
    request->Finish(*write_refusal);
  } else {
    Result<void> written = Write(changes);
    if (written.ok()) {
      waiting_.push_back({request, std::move(changes)});
    } else {
      request->Finish(std::move(written));
    }
  }
}

// Writes inside the batch's transaction, which it begins; or leaves that as it was.
Result<void> Committer::Write(const Changes& changes) {
  Result<void> outcome;
  if (!writer_.InTransaction()) outcome = writer_.Run(Sql::kBegin);
  if (outcome.ok()) outcome = WriteAll(changes);
  if (outcome.ok()) return {};
  Error error = Report(std::move(outcome).error());
  // A broken constraint is about these changes alone, anything else about the whole batch.
  if (error.code == ErrorCode::kInternal) {
    const Result<void> again = WriteAgain();
    if (!again.ok()) Abandon(again.error());
  } else {
    Abandon(error);
  }
  return error;
}

// Takes the transaction back and writes what the batch had written before the last request.
// Instead of savepoints, which each request would pay for: broken constraints are bugs, and rare.
Result<void> Committer::WriteAgain() {
  if (writer_.InTransaction()) TRUCE_RETURN_IF_ERROR(writer_.Run(Sql::kRollback));
  signposts_.Rollback();
  written_.clear();
  for (const Waiting& waiting : waiting_) {
    if (waiting.changes.empty()) continue;
    if (!writer_.InTransaction()) TRUCE_RETURN_IF_ERROR(writer_.Run(Sql::kBegin));
    TRUCE_RETURN_IF_ERROR(WriteAll(waiting.changes));
  }
  return {};
}

Result<void> Committer::WriteAll(const Changes& changes) {
  TRUCE_RETURN_IF_ERROR(WriteKeys(changes));
  TRUCE_RETURN_IF_ERROR(WriteOthers(changes));
  KeyChanges written;
  TRUCE_RETURN_IF_ERROR(Measure(changes, written));
  CountPlaces(written);
  for (auto& [key, change] : written) {
    KeyChange& whole = written_.keys[key];
    // A request before it in the batch changed the owner. Its pointer stays good: the changes that
    // it points into move to waiting_, and what a vector holds keeps its place.
    if (!change.owner_changed && whole.owner_changed) {
      change.owner_changed = true;
      change.owner = whole.owner;
    }
    whole = change;
  }
  for (const KeyText& name : changes.drop_names) written_.names.Drop(name);
  for (const ResourceName& name : changes.put_names) written_.names.Put(name);
  return {};
}

// In an order that keeps the schema's triggers content: an owner stands before its reservations
// come, and goes after they went; a name may become a key, a key a name, and names move before
// their resource goes.
Result<void> Committer::WriteKeys(const Changes& changes) {
  for (const KeyText& name : changes.drop_names) {
    TRUCE_RETURN_IF_ERROR(DropText(writer_, Sql::kDropName, name.text));
  }
  for (const RowId& id : changes.drop_rows) TRUCE_RETURN_IF_ERROR(DropRow(id));
  Resources resources;
  for (const Owner& owner : changes.put_owners) {
    TRUCE_RETURN_IF_ERROR(WriteOwner(owner, resources));
  }
  for (const Row& row : changes.put_rows) TRUCE_RETURN_IF_ERROR(WriteRow(row, resources));
  for (const KeyText& key : changes.drop_owners) {
    if (!Puts(changes, key)) TRUCE_RETURN_IF_ERROR(DropOwner(key));
  }
  for (auto name = changes.put_names.begin(); name != changes.put_names.end(); ++name) {
    const bool is_last = std::none_of(name + 1, changes.put_names.end(),
                                      [&](const auto& later) { return later.name == name->name; });
    if (is_last) TRUCE_RETURN_IF_ERROR(WriteName(*name));
  }
  // Those that have neither owner nor row any more.
  for (const RowId& id : changes.drop_rows) {
    TRUCE_RETURN_IF_ERROR(DropText(writer_, Sql::kForgetResource, id.key.text));
  }
  for (const KeyText& key : changes.drop_owners) {
    TRUCE_RETURN_IF_ERROR(DropText(writer_, Sql::kForgetResource, key.text));
  }
  return {};
}

// True when the table has no row for `key`, as memory knows.
bool Committer::IsNew(const KeyText& key) const {
  return !written_.keys.contains(key) && !known_.PresenceOf(key).may_have_rows;
}

Result<void> Committer::WriteOwner(const Owner& owner, Resources& resources) {
  RowNumber number;
  const auto known = resources.find(owner.key.text);
  if (known != resources.end()) {
    number = known->second.number;
  } else if (!IsNew(owner.key)) {
    TRUCE_ASSIGN_OR_RETURN(number, FindResource(owner.key));
  }
  const bool fresh = !number.has_value();
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t at, PutOwner(writer_, number, owner));
  resources.try_emplace(owner.key.text, Resource{at, fresh});
  return {};
}

Result<void> Committer::WriteRow(const Row& row, Resources& resources) {
  auto known = resources.find(row.id.key.text);
  if (known == resources.end()) {
    TRUCE_ASSIGN_OR_RETURN(RowNumber number, FindResource(row.id.key));
    const bool fresh = !number.has_value();
    if (fresh) {
      TRUCE_ASSIGN_OR_RETURN(number, PutOwnerless(writer_, number, row.id.key));
    }
    known = resources.emplace(row.id.key.text, Resource{*number, fresh}).first;
  }
  Resource& resource = known->second;
  RowNumber number;
  if (!resource.fresh) {
    TRUCE_ASSIGN_OR_RETURN(number, FindRow(resource.number, row.id));
  }
  // Of two puts of one row the last one counts, so the second one must look.
  resource.fresh = false;
  if (row.id.state == RowState::kReserved) {
    if (number.has_value()) TRUCE_RETURN_IF_ERROR(CountReservationOut(*number));
    if (auto made = Reservation::Of(row.slot, row.user, row.at)) {
      written_.reservations.emplace_back(*std::move(made), 1);
    }
  }
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t at, PutRow(writer_, number, resource.number, row));
  if (!number.has_value()) signposts_.rows_by_uid.Add(row.id.uid.text, at);
  return {};
}

Result<void> Committer::DropRow(const RowId& id) {
  TRUCE_ASSIGN_OR_RETURN(const RowNumber resource, FindResource(id.key));
  if (!resource.has_value()) return {};
  TRUCE_ASSIGN_OR_RETURN(const RowNumber number, FindRow(*resource, id));
  if (!number.has_value()) return {};
  if (id.state == RowState::kReserved) TRUCE_RETURN_IF_ERROR(CountReservationOut(*number));
  TRUCE_RETURN_IF_ERROR(DropAt(writer_, Sql::kDropRow, *number));
  signposts_.rows_by_uid.Drop(id.uid.text, *number);
  return {};
}

// Of the row that stands there: it is about to go, or to change.
Result<void> Committer::CountReservationOut(std::int64_t row) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, writer_.Use(Sql::kReservation));
  statement.BindInteger(0, row);
  TRUCE_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return {};
  TRUCE_ASSIGN_OR_RETURN(auto gone, ReadReservation(statement));
  if (gone) written_.reservations.emplace_back(*std::move(gone), -1);
  return {};
}

Result<void> Committer::DropOwner(const KeyText& key) {
  TRUCE_ASSIGN_OR_RETURN(const RowNumber number, FindResource(key));
  if (!number.has_value()) return {};
  // Its observers' rows may stay; kForgetResource takes what nothing points to.
  TRUCE_ASSIGN_OR_RETURN([[maybe_unused]] const std::int64_t at,
                         PutOwnerless(writer_, number, key));
  return {};
}

Result<void> Committer::WriteName(const ResourceName& name) {
  TRUCE_ASSIGN_OR_RETURN(const RowNumber resource, FindResource(name.key));
  if (resource.has_value()) return PutName(writer_, *resource, name);
  return BrokenConstraint("a name has its resource", name.name.text);
}

Result<RowNumber> Committer::FindResource(const KeyText& key) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, writer_.Use(Sql::kFindResource));
  statement.BindText(0, key.text);
  return NumberIn(statement);
}

Result<RowNumber> Committer::FindRow(std::int64_t resource, const RowId& id) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, writer_.Use(Sql::kFindRow));
  statement.BindInteger(0, resource);
  statement.BindText(1, id.uid.text);
  statement.BindText(2, WordOf(id.state));
  return NumberIn(statement);
}

Result<std::optional<Committer::StoredObject>> Committer::FindObject(const Uid& uid) {
  const auto candidates = signposts_.objects_by_uid.Find(uid.text, version_);
  TRUCE_ASSERT(candidates.has_value());
  // Signposts go by hash: another object may stand there.
  for (const std::int64_t candidate : *candidates) {
    TRUCE_ASSIGN_OR_RETURN(Statement statement, writer_.Use(Sql::kFindObject));
    statement.BindInteger(0, candidate);
    statement.BindText(1, uid.text);
    TRUCE_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (found) return std::optional(StoredObject{candidate, std::string(statement.Text(1))});
  }
  return std::optional<StoredObject>();
}

Result<void> Committer::WriteObject(const Object& object) {
  TRUCE_ASSIGN_OR_RETURN(const auto stored, FindObject(object.uid));
  const RowNumber number = stored ? RowNumber(stored->number) : RowNumber();
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t at, PutObject(writer_, number, object));
  if (!stored) signposts_.objects_by_uid.Add(object.uid.text, at);
  const std::string slot = ToText(object.slot);
  if (stored && stored->slot == slot) return {};
  signposts_.objects_by_slot.Add(slot, at);
  signposts_.objects_by_kind.Add(KindOf(object.slot), at);
  if (stored) DropFromSlot(*stored);
  return {};
}

Result<void> Committer::DropObject(const Uid& uid) {
  TRUCE_ASSIGN_OR_RETURN(const auto stored, FindObject(uid));
  if (!stored) return {};
  TRUCE_RETURN_IF_ERROR(DropAt(writer_, Sql::kDropObject, stored->number));
  signposts_.objects_by_uid.Drop(uid.text, stored->number);
  DropFromSlot(*stored);
  return {};
}

void Committer::DropFromSlot(const StoredObject& stored) {
  signposts_.objects_by_slot.Drop(stored.slot, stored.number);
  // Its first three parts (KindOf).
  const std::string_view slot = stored.slot;
  const std::size_t group = slot.find('/') + 1;
  const std::size_t kind = slot.find('/', group) + 1;
  signposts_.objects_by_kind.Drop(slot.substr(0, slot.find('/', kind)), stored.number);
}

Result<void> Committer::WriteOthers(const Changes& changes) {
  for (const Uid& uid : changes.drop_objects) TRUCE_RETURN_IF_ERROR(DropObject(uid));
  for (const Object& object : changes.put_objects) TRUCE_RETURN_IF_ERROR(WriteObject(object));
  for (const PublicId& id : changes.drop_agreements) {
    TRUCE_RETURN_IF_ERROR(DropText(writer_, Sql::kDropAgreement, id.text));
  }
  for (const Agreement& agreement : changes.put_agreements) {
    TRUCE_RETURN_IF_ERROR(PutAgreement(writer_, agreement));
  }
  for (const AuditEntry& entry : changes.audit) TRUCE_RETURN_IF_ERROR(AddAudit(writer_, entry));
  for (const auto& [name, value] : changes.put_settings) {
    TRUCE_RETURN_IF_ERROR(PutSetting(writer_, name, value));
  }
  return {};
}

// Collects what the changes leave of each key they touch, for memory.
Result<void> Committer::Measure(const Changes& changes, KeyChanges& written) {
  std::map<KeyText, std::size_t> rows_put;
  constexpr std::size_t kDropped = 1000;  // more than one: must be looked up
  for (const Row& row : changes.put_rows) ++rows_put[row.id.key];
  for (const RowId& id : changes.drop_rows) rows_put[id.key] += kDropped;
  for (const KeyText& key : changes.drop_owners) {
    written[key].owner_changed = true;
    rows_put.try_emplace(key, 0);
  }
  for (const Owner& owner : changes.put_owners) {
    KeyChange& change = written[owner.key];
    change.owner_changed = true;
    change.owner = &owner;
    rows_put.try_emplace(owner.key, 0);
  }
  for (const auto& [key, count] : rows_put) {
    TRUCE_RETURN_IF_ERROR(MeasureKey(key, count, written[key]));
  }
  return {};
}

// Notes where ownerships come to count, or no longer do. Before `changed` stands in written_.
void Committer::CountPlaces(const KeyChanges& changed) {
  for (const auto& [key, change] : changed) {
    if (!change.owner_changed) continue;
    const auto earlier = written_.keys.find(key);
    const bool is_written = earlier != written_.keys.end() && earlier->second.owner_changed;
    std::optional<Place> before;
    if (!is_written) {
      before = known_.PlaceOf(key);
    } else if (earlier->second.owner != nullptr) {
      before = PlaceOf(*earlier->second.owner);
    }
    std::optional<Place> after;
    if (change.owner != nullptr) after = PlaceOf(*change.owner);
    if (before == after) continue;
    if (before) written_.places.Add(*std::move(before), -1);
    if (after) written_.places.Add(*std::move(after), 1);
  }
}

// Without a query for a key that is new: it has the rows that were just put.
Result<void> Committer::MeasureKey(const KeyText& key, std::size_t rows_put, KeyChange& change) {
  if (IsNew(key) && rows_put <= 1) {
    change.has_rows = rows_put == 1;
    return {};
  }
  TRUCE_ASSIGN_OR_RETURN(Statement statement, writer_.Use(Sql::kCountRows));
  statement.BindText(0, key.text);
  TRUCE_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return Error{ErrorCode::kInternal, "the row count failed"};
  change.has_rows = statement.Integer(0) > 0;
  return {};
}

// The disk first, then memory: nobody is told of what a crash could take back (I3).
Result<void> Committer::Commit() {
  if (!writer_.InTransaction()) {
    TRUCE_ASSERT(waiting_.empty());
    return {};
  }
  Result<void> outcome = writer_.Run(Sql::kCountCommit);
  if (outcome.ok()) outcome = writer_.Run(Sql::kCommit);
  if (!outcome.ok()) {
    Error error = Report(std::move(outcome).error());
    Abandon(error);
    return error;
  }
  ++version_;
  known_.Commit(written_, version_);
  signposts_.Commit(version_);
  health_.Worked();
  return {};
}

// Takes the whole batch back and tells all that wait for it.
void Committer::Abandon(const Error& error) {
  if (writer_.InTransaction()) {
    Result<void> rolled_back = writer_.Run(Sql::kRollback);
    if (!rolled_back.ok()) static_cast<void>(Report(std::move(rolled_back).error()));
  }
  signposts_.Rollback();
  for (const Waiting& waiting : waiting_) waiting.request->Finish(error);
  waiting_.clear();
  written_.clear();
}

// Notes what an error says about the store. A broken constraint is about the request alone.
Error Committer::Report(Error error) {
  if (error.code == ErrorCode::kDataLoss) health_.Damaged(error);
  if (error.code == ErrorCode::kUnavailable) health_.Failed(error);
  return error;
}

}  // namespace truce
