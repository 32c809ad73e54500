#include "registry/store/postgres/transaction.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "registry/store/adapter.h"
#include "registry/store/columns.h"
#include "registry/store/postgres/observer.h"
#include "registry/store/postgres/queries.h"
#include "registry/store/postgres/records.h"

namespace truce {
namespace {

constexpr const char* kTake =
    "SELECT * FROM truce.take($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
constexpr const char* kPut =
    "SELECT truce.put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

constexpr const char* kConfirm = "SELECT truce.confirm()";

// The first column of an answer of truce.take: which question a row answers (AskedAlong has more).
enum What : std::int64_t {
  kBusy = -1,
  kNamed,
  kNameOfResource,
  kOwnerOfResource,
  kRowOfResource,
  kAgreementOfResource,
  kRowOfUid,
  kObjectOfUid,
  kYoungestOfSlot,
  kChildOfSlot,
  kSetting,
  kAgreementOfId,
};

template <typename Things, typename Text>
std::string ArrayOfKeys(const Things& things, const Text& text) {
  TextArray array;
  for (const auto& thing : things) {
    const std::string& key = text(thing);
    if (CanBeKey(key)) array.Text(key);
  }
  return std::move(array).Take();
}

// The number of an epoch; nothing: there is none.
std::optional<std::string> EpochText(std::int64_t epoch) {
  if (epoch == 0) return std::nullopt;
  return std::to_string(epoch);
}

// Adds one row of truce.take's answer, whose kind is in `head`. A resource that was brought along
// has the name that led to it, at least.
Result<void> AddTo(FactStock& stock, const PgColumns& head, const PgColumns& columns,
                   const AskedAlong& along) {
  const std::int64_t what = head.Integer(0);
  switch (what) {
    case kNamed: {
      ResourceName name;
      TRUCE_RETURN_IF_ERROR(Fill(columns, name));
      stock.names[name.name].spelt.push_back(std::move(name));
      return {};
    }
    case kNameOfResource: {
      ResourceName name;
      TRUCE_RETURN_IF_ERROR(Fill(columns, name));
      stock.resources[name.resource].names.push_back(std::move(name));
      return {};
    }
    case kOwnerOfResource: {
      Owner owner;
      TRUCE_RETURN_IF_ERROR(Fill(columns, owner));
      stock.resources[owner.id].owner = std::move(owner);
      return {};
    }
    case kRowOfResource: {
      Row row;
      TRUCE_RETURN_IF_ERROR(Fill(columns, row));
      stock.resources[row.id.resource].rows.push_back(std::move(row));
      return {};
    }
    case kAgreementOfResource: {
      Agreement agreement;
      TRUCE_RETURN_IF_ERROR(Fill(columns, agreement));
      stock.resources[agreement.resource].agreements.push_back(std::move(agreement));
      return {};
    }
    case kRowOfUid: {
      Row row;
      TRUCE_RETURN_IF_ERROR(Fill(columns, row));
      stock.uids[row.id.uid].rows.push_back(std::move(row));
      return {};
    }
    case kObjectOfUid: {
      Object object;
      TRUCE_RETURN_IF_ERROR(Fill(columns, object));
      stock.uids[object.uid].object = std::move(object);
      return {};
    }
    case kYoungestOfSlot: {
      Object object;
      TRUCE_RETURN_IF_ERROR(Fill(columns, object));
      stock.slots[object.slot].youngest = std::move(object);
      return {};
    }
    case kChildOfSlot: {
      Object object;
      TRUCE_RETURN_IF_ERROR(Fill(columns, object));
      stock.slots[object.parent.value_or(Slot{})].children.push_back(std::move(object));
      return {};
    }
    case kSetting:
      stock.settings[std::string(columns.Text(0))] = std::string(columns.Text(1));
      return {};
    case kAgreementOfId: {
      Agreement agreement;
      TRUCE_RETURN_IF_ERROR(Fill(columns, agreement));
      stock.agreements[agreement.id] = std::move(agreement);
      return {};
    }
    default: return along.Read(what, head.Integer(1), columns, stock);
  }
}

}  // namespace

Result<void> PgTransaction::Begin(const FactNeeds& needs, bool whole, FactStock& stock) {
  whole_ = whole;
  const char* mode = sort_ == Sort::kRead ? "look" : whole ? "whole" : "begin";
  TRUCE_ASSIGN_OR_RETURN(const bool taken, Take(mode, needs, stock));
  if (taken) return {};
  return Error{ErrorCode::kInternal, "truce.take tried locks instead of waiting for them"};
}

Result<bool> PgTransaction::More(const FactNeeds& needs, FactStock& stock) {
  return Take(sort_ == Sort::kRead || whole_ ? "look" : "more", needs, stock);
}

void PgTransaction::OnManyRuns() {
  if (link_.observer()) link_.observer()({.many_runs = true});
}

PgStatement PgTransaction::TakeStatement(const char* mode, const FactNeeds& needs,
                                         const AskedAlong& along) const {
  const auto text = [](const auto& id) -> const std::string& { return id.text; };
  TextArray slots;
  for (const Slot& slot : needs.slots) {
    const std::string of_slot = ToText(slot);
    if (CanBeKey(of_slot)) slots.Text(of_slot);
  }
  TextArray counts;
  for (const Query& query : needs.queries) {
    if (GuardOf(query) == Guard::kOwn) counts.Text(LockNameOf(query));
  }
  return {
      kTake,
      {mode, LockWaitOf(deadline_), ArrayOfKeys(needs.names, text),
       ArrayOfKeys(needs.resources, text), ArrayOfKeys(needs.uids, text), std::move(slots).Take(),
       ArrayOfKeys(needs.settings, [](const std::string& n) -> const std::string& { return n; }),
       ArrayOfKeys(needs.agreements, text), std::move(counts).Take(), along.reserved(),
       along.shapes(), along.proposed(), EpochText(epochs_.registry), EpochText(epochs_.watch)}};
}

Result<bool> PgTransaction::Take(const char* mode, const FactNeeds& needs, FactStock& stock) {
  std::vector<PgStatement> statements;
  if (!open_) {
    // A read sees one moment in all its statements. A decision must see, in each, the commits of
    // the time when it waited for a lock.
    statements.push_back({sort_ == Sort::kRead ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
                                               : "BEGIN ISOLATION LEVEL READ COMMITTED",
                          {}});
  }
  const std::size_t take = statements.size();
  const AskedAlong along(needs.queries);
  statements.push_back(TakeStatement(mode, needs, along));
  for (const Query* query : along.others()) statements.push_back(StatementOf(*query));
  open_ = true;
  TRUCE_ASSIGN_OR_RETURN(const std::vector<PgAnswer> answers, link_.Ask(statements, deadline_));
  const PgAnswer& taken = answers[take];
  if (taken.row_count() == 1 && taken.Row(0).Integer(0) == kBusy) return false;
  // Of its own: a resource may be brought along that is in stock.
  FactStock brought;
  brought.Expect(needs);
  along.Expect(brought);
  for (int row = 0; row < taken.row_count(); ++row) {
    TRUCE_RETURN_IF_ERROR(AddTo(brought, taken.Row(row), taken.Row(row, 2), along));
  }
  brought.Sort();
  std::size_t next = take;
  for (const Query* query : along.others()) {
    TRUCE_ASSIGN_OR_RETURN(brought.queries[*query], AnswerOf(*query, answers[++next]));
  }
  stock.Add(std::move(brought));
  return true;
}

void PgTransaction::Undo() {
  if (!open_) return;
  open_ = false;
  // Nobody needs the answer: the next one who uses the connection reads it away.
  link_.Tell({"ROLLBACK", {}});
}

Result<void> PgTransaction::Write(const Changes& changes) {
  TRUCE_RETURN_IF_ERROR(CheckChanges(changes));
  TRUCE_ASSIGN_OR_RETURN(auto parameters, PutParameters(changes));
  std::vector<PgStatement> statements = TableStatements(changes);
  statements.insert(statements.begin(), {kPut, std::move(parameters)});
  return Commit(std::move(statements));
}

Result<void> PgTransaction::Confirm() { return Commit({{kConfirm, {}}}); }

Result<void> PgTransaction::Commit(std::vector<PgStatement> statements) {
  if (std::chrono::steady_clock::now() >= deadline_) {
    return Error{ErrorCode::kDeadlineExceeded, "the deadline passed before the commit began"};
  }
  link_.TakeWarning();
  // In one round trip: if the first fails, COMMIT rolls back.
  statements.push_back({"COMMIT", {}});
  auto answers = link_.Ask(statements, deadline_);
  if (!answers.ok() && !link_.usable()) {
    open_ = false;
    in_doubt_ = true;
    return Error{ErrorCode::kDeadlineExceeded,
                 "it is open whether the commit was done: " + answers.error().message};
  }
  if (!answers.ok()) return std::move(answers).error();  // refused before its COMMIT
  open_ = false;
  // COMMIT of a failed transaction says ROLLBACK; a wait for the standby that was cancelled says
  // COMMIT and warns.
  if (answers.value().back().tag() != "COMMIT") {
    return Error{ErrorCode::kUnavailable, "PostgreSQL rolled the commit back"};
  }
  last_audit_line_ = answers.value().front().Row(0).Integer(0);
  if (!link_.TakeWarning()) return {};
  in_doubt_ = true;
  return Error{ErrorCode::kDeadlineExceeded,
               "it is open whether the commit reached the standby: PostgreSQL warned"};
}

}  // namespace truce
