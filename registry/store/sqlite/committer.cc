#include "registry/store/sqlite/committer.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "registry/store/sqlite/records.h"

namespace truce {
namespace {

Result<void> DropText(Connection& writer, Sql sql, std::string_view text) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, writer.Use(sql));
  statement.BindText(0, text);
  return statement.Run();
}

Result<void> DropRow(Connection& writer, const RowId& id) {
  TRUCE_ASSIGN_OR_RETURN(Statement statement, writer.Use(Sql::kDropRow));
  statement.BindText(0, id.key.text);
  statement.BindText(1, id.uid.text);
  statement.BindText(2, WordOf(id.state));
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
  const Result<void> committed = Commit();
  if (!committed.ok()) return;  // Commit has answered them
  for (const std::shared_ptr<Request>& request : waiting_) request->Finish({});
  waiting_.clear();
  written_.clear();
}

void Committer::Probe() {
  if (writer_.Run(Sql::kBegin).ok()) static_cast<void>(Commit().ok());
}

void Committer::Decide(const std::shared_ptr<Request>& request,
                       const std::optional<Error>& write_refusal) {
  BatchFacts facts(writer_, known_, written_);
  Changes changes;
  std::optional<Error> failure;
  try {
    changes = request->decide()(facts);
  } catch (const std::exception& exception) {
    failure = Error{ErrorCode::kInternal, "the decision failed: " + std::string(exception.what())};
  }
  request->Decided();
  if (!failure.has_value() && facts.error().has_value()) failure = Report(*facts.error());
  if (failure.has_value()) {
    request->Finish(*std::move(failure));
  } else if (changes.empty()) {
    if (!facts.saw_uncommitted()) {
      request->Finish({});
    } else {
      waiting_.push_back(request);
    }
  } else if (write_refusal.has_value()) {
    request->Finish(*write_refusal);
  } else {
    Result<void> written = Write(changes);
    if (written.ok()) {
      waiting_.push_back(request);
    } else {
      request->Finish(std::move(written));
    }
  }
}

// Writes inside the batch's transaction, which it begins; or leaves that as it was.
Result<void> Committer::Write(const Changes& changes) {
  if (!writer_.InTransaction()) {
    Result<void> begun = writer_.Run(Sql::kBegin);
    if (!begun.ok()) return Report(std::move(begun).error());
  }
  KeyChanges written;
  Result<void> outcome = writer_.Run(Sql::kSavepoint);
  if (outcome.ok()) outcome = WriteAll(changes, written);
  if (outcome.ok()) outcome = writer_.Run(Sql::kReleaseSavepoint);
  if (outcome.ok()) {
    for (auto& [key, change] : written) {
      KeyChange& whole = written_[key];
      if (!change.owner_changed && whole.owner_changed) {
        change.owner_changed = true;
        change.owner = std::move(whole.owner);
      }
      whole = std::move(change);
    }
    return {};
  }
  Error error = Report(std::move(outcome).error());
  // Some failures (full, I/O) end the whole transaction; then the savepoint is gone too.
  const bool restored = writer_.InTransaction() && writer_.Run(Sql::kRollbackToSavepoint).ok() &&
                        writer_.Run(Sql::kReleaseSavepoint).ok();
  if (!restored) Abandon(error);
  return error;
}

Result<void> Committer::WriteAll(const Changes& changes, KeyChanges& written) {
  TRUCE_RETURN_IF_ERROR(WriteKeys(changes));
  TRUCE_RETURN_IF_ERROR(WriteOthers(changes));
  return Measure(changes, written);
}

// In an order that keeps the schema's triggers content: an owner stands before its reservations
// come, and goes after they went.
Result<void> Committer::WriteKeys(const Changes& changes) {
  for (const RowId& id : changes.drop_rows) TRUCE_RETURN_IF_ERROR(DropRow(writer_, id));
  for (const Owner& owner : changes.put_owners) TRUCE_RETURN_IF_ERROR(PutOwner(writer_, owner));
  for (const Row& row : changes.put_rows) TRUCE_RETURN_IF_ERROR(PutRow(writer_, row));
  for (const KeyText& key : changes.drop_owners) {
    if (Puts(changes, key)) continue;
    TRUCE_RETURN_IF_ERROR(DropText(writer_, Sql::kDropOwner, key.text));
  }
  return {};
}

Result<void> Committer::WriteOthers(const Changes& changes) {
  for (const Uid& uid : changes.drop_objects) {
    TRUCE_RETURN_IF_ERROR(DropText(writer_, Sql::kDropObject, uid.text));
  }
  for (const Object& object : changes.put_objects) {
    TRUCE_RETURN_IF_ERROR(PutObject(writer_, object));
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
    change.owner = owner;
    rows_put.try_emplace(owner.key, 0);
  }
  for (const auto& [key, count] : rows_put) {
    TRUCE_RETURN_IF_ERROR(MeasureKey(key, count, written[key]));
  }
  return {};
}

// Without a query for a key that is new: it has the rows that were just put.
Result<void> Committer::MeasureKey(const KeyText& key, std::size_t rows_put, KeyChange& change) {
  const bool is_new = !written_.contains(key) && !known_.PresenceOf(key).may_have_rows;
  if (is_new && rows_put <= 1) {
    change.has_rows = rows_put == 1;
    return {};
  }
  TRUCE_ASSIGN_OR_RETURN(Statement statement, writer_.Use(Sql::kRootsOfKey));
  statement.BindText(0, key.text);
  TRUCE_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return Error{ErrorCode::kInternal, "counting rows gave nothing"};
  change.has_rows = statement.Integer(0) > 0;
  change.conflicting = statement.Integer(1) > 1;
  return {};
}

// The disk first, then memory: nobody is told of what a crash could take back (I3).
Result<void> Committer::Commit() {
  if (!writer_.InTransaction()) return {};
  Result<void> outcome = writer_.Run(Sql::kCountCommit);
  if (outcome.ok()) outcome = writer_.Run(Sql::kCommit);
  if (!outcome.ok()) {
    Error error = Report(std::move(outcome).error());
    Abandon(error);
    return error;
  }
  ++version_;
  known_.Commit(written_, version_);
  health_.Worked();
  return {};
}

// Takes the whole batch back and tells all that wait for it.
void Committer::Abandon(const Error& error) {
  if (writer_.InTransaction()) {
    Result<void> rolled_back = writer_.Run(Sql::kRollback);
    if (!rolled_back.ok()) static_cast<void>(Report(std::move(rolled_back).error()));
  }
  for (const std::shared_ptr<Request>& request : waiting_) request->Finish(error);
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
