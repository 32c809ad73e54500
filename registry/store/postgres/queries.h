// Questions about no single thing as statements, and their answers.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_QUERIES_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_QUERIES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "registry/base/result.h"
#include "registry/store/discovery/needs.h"
#include "registry/store/postgres/connection.h"
#include "registry/store/postgres/records.h"

namespace truce {

// The statement that asks for `query`.
PgStatement StatementOf(const Query& query);

// The queries that truce.take asks along with names: those of most reviews, which as statements of
// their own would be planned anew at each one. A value; its queries must outlive it.
class AskedAlong {
 public:
  explicit AskedAlong(const std::set<Query>& queries);

  // Parameters of truce.take.
  std::string reserved() const { return reserved_.Whole(); }
  std::string shapes() const { return shapes_.Whole(); }
  std::string proposed() const { return proposed_.Whole(); }
  // Those that need a statement of their own.
  const std::vector<const Query*>& others() const { return others_; }

  // Makes an empty answer for each that is asked along.
  void Expect(FactStock& stock) const;
  // Adds one row of truce.take's answer, which says `what` and `place`. Errors: kDataLoss: it was
  // not asked.
  Result<void> Read(std::int64_t what, std::int64_t place, const PgColumns& columns,
                    FactStock& stock) const;

 private:
  // The first column of an answer of truce.take.
  enum What : std::int64_t { kReservedAlong = 11, kShapeAlong, kTakenAlong };

  TextArray reserved_;
  TextArray shapes_;
  TextArray proposed_;
  std::map<std::int64_t, std::vector<const Query*>> of_;
  std::vector<const Query*> others_;
};

// The name of the lock of a query with one of its own: two queries with one name wait for each
// other.
std::string LockNameOf(const Query& query);

// Reads `answer` to StatementOf(query). Errors: kDataLoss.
Result<QueryAnswer> AnswerOf(const Query& query, const PgAnswer& answer);

// The columns of each table as the readers of registry/store/columns.h expect them, of its alias:
// o (owners), d (declarations), g (agreements) and n (names), each with r (its resource); b
// (objects), l (audit).
inline constexpr const char* kOwnerColumns =
    "r.key, o.until, r.public_id, o.root, o.party, o.service, o.contact, o.arn, o.name, "
    "o.identity, "
    "o.shape, o.since, o.real::integer, o.record, o.record_reason, o.successor, o.state, o.leaf, "
    "o.contested::integer, o.managed_once::integer, o.left_slots";
inline constexpr const char* kRowColumns =
    "r.public_id, d.uid, d.state, d.slot, d.root, d.intent, d.terminating::integer, "
    "d.managed::integer, "
    "d.identity, d.review, d.digest, d.base, d.\"user\", d.at, d.created, d.account_fields";
inline constexpr const char* kObjectColumns =
    "b.uid, b.kind, b.namespace, b.name, b.parent, b.parent_uid, b.root, b.link, b.names, "
    "b.service, b.contact, b.composes::integer, b.own_party::integer, b.transfer_to, "
    "b.unproven_marks, "
    "b.stripped, b.at";
inline constexpr const char* kAgreementColumns =
    "g.id, g.kind, r.public_id, g.party, g.level, g.accepted::integer, g.successor, g.reason, "
    "g.actor, "
    "g.at, g.until";
inline constexpr const char* kAuditColumns =
    "l.at, l.action, l.key, l.id, l.root, l.slot, l.uid, l.cause, l.actor, l.review";

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_QUERIES_H_
