// Questions about no single thing as statements, and their answers.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_QUERIES_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_QUERIES_H_

#include "registry/base/result.h"
#include "registry/store/discovery/needs.h"
#include "registry/store/postgres/connection.h"

namespace truce {

// What is asked for `query`.
PgStatement StatementOf(const Query& query);

// What a query with a lock of its own is locked by. Two with one name wait for each other, no more.
std::string LockNameOf(const Query& query);

// What `answer` to StatementOf(query) says. Errors: kDataLoss.
Result<QueryAnswer> AnswerOf(const Query& query, const PgAnswer& answer);

// Reads each row of `answer` with `read`. Errors: those of `read`.
template <typename T, typename Read>
Result<std::vector<T>> AllOf(const PgAnswer& answer, const Read& read) {
  std::vector<T> all;
  for (int row = 0; row < answer.row_count(); ++row) {
    TRUCE_ASSIGN_OR_RETURN(T one, read(answer.Row(row)));
    all.push_back(std::move(one));
  }
  return all;
}

// The columns of each table as the readers of registry/store/columns.h expect them, of its alias:
// o (owners) with n (names), d (declarations) with r (resources), b (objects), g (agreements), l
// (audit).
inline constexpr const char* kOwnerColumns =
    "n.name, '1', o.public_id, o.root, o.party, o.service, o.contact, o.arn, o.name, o.identity, "
    "o.shape, o.since, o.real::integer, o.record, o.record_reason, o.successor, o.state, o.leaf, "
    "o.contested::integer, o.managed_once::integer, o.left_slots";
inline constexpr const char* kRowColumns =
    "r.key, d.uid, d.state, d.slot, d.root, d.intent, d.terminating::integer, d.managed::integer, "
    "d.identity, d.review, d.digest, d.base, d.\"user\", d.at, d.created, d.account_fields";
inline constexpr const char* kObjectColumns =
    "b.uid, b.kind, b.namespace, b.name, b.parent, b.parent_uid, b.root, b.link, b.names, "
    "b.service, b.contact, b.composes::integer, b.own_party::integer, b.transfer_to, b.told, "
    "b.stripped, b.at";
inline constexpr const char* kAgreementColumns =
    "g.id, g.kind, g.key, g.party, g.level, g.accepted::integer, g.successor, g.reason, g.actor, "
    "g.at, g.until";
inline constexpr const char* kAuditColumns =
    "l.at, l.action, l.key, l.id, l.root, l.slot, l.uid, l.cause, l.actor, l.review";

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_QUERIES_H_
