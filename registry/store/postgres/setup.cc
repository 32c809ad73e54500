#include "registry/store/postgres/setup.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace truce {
namespace {

Error Unfit(std::string_view what) {
  return {ErrorCode::kInvalidArgument,
          "this PostgreSQL server cannot keep the registry: " + std::string(what)};
}

constexpr const char* kFacts =
    "SELECT current_setting('server_version_num')::integer, pg_is_in_recovery()::integer, "
    "current_setting('server_encoding'), current_setting('fsync'), "
    "current_setting('full_page_writes'), current_setting('transaction_read_only'), version()";
constexpr const char* kTryLock = "SELECT pg_try_advisory_xact_lock(1414681923, 1)::integer";

Result<void> CheckFacts(const PgColumns& facts) {
  constexpr std::int64_t kVersionMin = 140000;
  if (facts.Text(6).find("CockroachDB") != std::string_view::npos ||
      facts.Text(6).find("Yugabyte") != std::string_view::npos) {
    return Unfit("it only speaks PostgreSQL's language; its advisory locks hold nobody off");
  }
  if (facts.Integer(0) < kVersionMin) return Unfit("it is older than version 14; upgrade it");
  if (facts.Integer(1) != 0 || facts.Text(5) == "on") {
    return Unfit("it is a standby, or read-only; name the primary in the URL");
  }
  if (facts.Text(2) != "UTF8") return Unfit("its database is not in UTF8; make another one");
  if (facts.Text(3) != "on")
    return Unfit("fsync is off: a power cut would lose grants; turn it on");
  if (facts.Text(4) != "on") return Unfit("full_page_writes is off; turn it on");
  return {};
}

// One number that `sql` answers.
Result<std::int64_t> NumberOf(PgLink& link, const char* sql, Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(const auto answers, link.Ask({{sql, {}}}, deadline));
  return answers[0].row_count() == 1 ? answers[0].Row(0).Integer(0) : 0;
}

constexpr std::string_view kAsOwner =
    "; let `truce prepare-store` make the tables, as their owner, or give this user CREATE on the "
    "database";

// Empty: this user has every right that the store needs. Audit lines are only added.
constexpr const char* kMissingRights =
    "SELECT string_agg(missing.what, ', ') FROM (SELECT needed.privilege || ' on truce.' || "
    "c.relname AS what FROM pg_class c CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', "
    "'DELETE']) AS needed "
    "(privilege) WHERE c.relkind = 'r' AND c.relnamespace = 'truce'::regnamespace "
    "AND NOT has_table_privilege(c.oid, needed.privilege) "
    "AND NOT (c.relname = 'migrations' AND needed.privilege <> 'SELECT') "
    "AND NOT (c.relname = 'audit' AND needed.privilege IN ('UPDATE', 'DELETE')) ORDER BY 1 LIMIT "
    "3) AS missing";

// Rights of the roles of the role script, where they exist; idempotent.
constexpr const char* kGrants = R"(DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'truce_app') THEN
    GRANT USAGE ON SCHEMA truce TO truce_app;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA truce TO truce_app;
    REVOKE UPDATE, DELETE ON truce.audit FROM truce_app;
    REVOKE INSERT, UPDATE, DELETE ON truce.migrations FROM truce_app;
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'truce_read') THEN
    GRANT USAGE ON SCHEMA truce TO truce_read;
    GRANT SELECT ON ALL TABLES IN SCHEMA truce TO truce_read;
  END IF;
END $$)";
constexpr const char* kBecomeOwner = R"(DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles r WHERE r.rolname = 'truce_owner' AND pg_has_role(r.oid, 'MEMBER')
             AND has_database_privilege(r.oid, current_database(), 'CREATE')
             AND NOT EXISTS (SELECT FROM pg_namespace n
                             WHERE n.nspname = 'truce' AND n.nspowner <> r.oid)) THEN
    SET LOCAL ROLE truce_owner;
  END IF;
END $$)";

// Why what ran on the database is not the begin of `migrations`; empty: it is.
std::string_view WhyNotOurs(const PgAnswer& applied, std::span<const Migration> migrations) {
  const auto count = static_cast<std::size_t>(applied.row_count());
  if (count > migrations.size()) {
    return "a newer Truce made the tables of schema truce; start that version";
  }
  for (std::size_t i = 0; i < count; ++i) {
    const PgColumns row = applied.Row(static_cast<int>(i));
    if (row.Integer(0) != migrations[i].version || row.Text(1) != migrations[i].checksum) {
      return "a development version of Truce made the tables of schema truce; drop the schema, or "
             "use another database";
    }
  }
  return {};
}

Result<void> Migrate(PgLink& link, std::span<const Migration> migrations, Deadline deadline) {
  TRUCE_RETURN_IF_ERROR(
      link.Ask({{"BEGIN", {}}, {"SELECT pg_advisory_xact_lock(1414681923, 2)", {}}}, deadline));
  TRUCE_ASSIGN_OR_RETURN(
      const std::int64_t exists,
      NumberOf(link, "SELECT (to_regclass('truce.migrations') IS NOT NULL)::integer", deadline));
  std::size_t applied = 0;
  if (exists != 0) {
    TRUCE_ASSIGN_OR_RETURN(
        const auto rows,
        link.Ask({{"SELECT version, checksum FROM truce.migrations ORDER BY version", {}}},
                 deadline));
    const std::string_view why_not = WhyNotOurs(rows[0], migrations);
    if (!why_not.empty()) return Error{ErrorCode::kInvalidArgument, std::string(why_not)};
    applied = static_cast<std::size_t>(rows[0].row_count());
  }
  const auto missing = migrations.subspan(applied);
  if (!missing.empty()) TRUCE_RETURN_IF_ERROR(link.RunScript(kBecomeOwner, deadline));
  for (const Migration& migration : missing) {
    TRUCE_RETURN_IF_ERROR(link.RunScript(std::string(migration.sql), deadline));
    TRUCE_RETURN_IF_ERROR(
        link.Ask({{"INSERT INTO truce.migrations (version, name, checksum) VALUES ($1, $2, $3)",
                   {std::to_string(migration.version), std::string(migration.name),
                    std::string(migration.checksum)}}},
                 deadline));
  }
  if (!missing.empty()) TRUCE_RETURN_IF_ERROR(link.RunScript(kGrants, deadline));
  TRUCE_ASSIGN_OR_RETURN(const auto committed, link.Ask({{"COMMIT", {}}}, deadline));
  if (committed[0].tag() == "COMMIT") return {};
  return Error{ErrorCode::kUnavailable, "PostgreSQL rolled the migration back"};
}

}  // namespace

Result<void> ProbeServer(PgLink& first, PgLink& second, Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(const auto facts, first.Ask({{kFacts, {}}}, deadline));
  TRUCE_RETURN_IF_ERROR(CheckFacts(facts[0].Row(0)));
  TRUCE_RETURN_IF_ERROR(first.Ask({{"BEGIN", {}}}, deadline));
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t held, NumberOf(first, kTryLock, deadline));
  TRUCE_ASSIGN_OR_RETURN(const std::int64_t held_twice, NumberOf(second, kTryLock, deadline));
  TRUCE_RETURN_IF_ERROR(first.Ask({{"ROLLBACK", {}}}, deadline));
  // Where another program probes at this moment, its lock is in the way of both.
  if (held != 0 && held_twice != 0) {
    return Unfit("two connections got one advisory lock; connect to one PostgreSQL primary");
  }
  return {};
}

Result<void> MigratePostgres(PgLink& link, std::span<const Migration> migrations,
                             Deadline deadline) {
  Result<void> done = Migrate(link, migrations, deadline);
  if (done.ok() || !link.was_denied()) return done;
  return Error{ErrorCode::kInvalidArgument, done.error().message + std::string(kAsOwner)};
}

Result<void> PreparePostgres(const PgTarget& target, Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(const auto first, PgLink::Connect(target, deadline));
  TRUCE_ASSIGN_OR_RETURN(const auto second, PgLink::Connect(target, deadline));
  TRUCE_RETURN_IF_ERROR(ProbeServer(*first, *second, deadline));
  return MigratePostgres(*first, PostgresMigrations(), deadline);
}

Result<void> CheckRights(PgLink& link, Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(const auto answers, link.Ask({{kMissingRights, {}}}, deadline));
  const std::string missing(answers[0].Row(0).Text(0));
  if (missing.empty()) return {};
  return Error{ErrorCode::kInvalidArgument,
               "this user of PostgreSQL lacks rights: " + missing +
                   "; make it a member of role truce_app, which `truce prepare-store` gives them"};
}

Result<bool> NamesStandby(PgLink& link, Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(
      const std::int64_t named,
      NumberOf(link, "SELECT (current_setting('synchronous_standby_names') <> '')::integer",
               deadline));
  return named != 0;
}

}  // namespace truce
