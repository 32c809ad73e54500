// What can be wrong with a server, its database or the way there: each is one clear line, and
// nothing is written.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "registry/store/postgres/connection.h"
#include "registry/store/postgres/postgres_store.h"
#include "registry/store/postgres/setup.h"
#include "tests/support/certificates.h"
#include "tests/support/postgres_server.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace postgres_opening_test {

PasswordSource Password(const std::string& text) {
  return [text](Deadline) -> Result<std::string> { return text; };
}

void ExpectRefused(const PostgresOptions& options, ErrorCode code, const std::string& part) {
  const auto opened = PostgresStore::Open(options, Soon());
  ASSERT_FALSE(opened.ok()) << part;
  EXPECT_EQ(opened.error().code, code) << opened.error().message;
  EXPECT_NE(opened.error().message.find(part), std::string::npos) << opened.error().message;
  EXPECT_EQ(opened.error().message.find('\n'), std::string::npos) << opened.error().message;
}

bool Opens(const PostgresOptions& options) {
  const auto opened = PostgresStore::Open(options, Soon());
  if (!opened.ok()) ADD_FAILURE() << opened.error().message;
  return opened.ok();
}

// A fresh database with a role of its own name's that has `password`.
struct Guarded {
  explicit Guarded(const std::string& user) : url(PostgresServer::Shared().MakeDatabase()) {
    name = url.substr(url.rfind('=') + 1);
    Outsider outsider(url);
    EXPECT_EQ(outsider.Run("CREATE ROLE " + user + " LOGIN PASSWORD 'right'"), "");
    tcp = PostgresServer::Shared().TcpUrlOf(name, user);
  }
  bool IsUntouched() const {
    return Outsider(url).Run("SELECT 'truce'::regnamespace") == "3F000";  // no such schema
  }

  std::string url;  // of the database's owner
  std::string tcp;  // of the role
  std::string name;
};

TEST(PostgresOpening, AUrlThatLeadsNowhereIsToldInOneLine) {
  PostgresServer& server = PostgresServer::Shared();
  ExpectRefused({.url = "no such option=1"}, ErrorCode::kInvalidArgument,
                "cannot be read: missing \"=\" after \"no\"");
  ExpectRefused({.url = "postgres://truce@h:x/n"}, ErrorCode::kInvalidArgument, "\"x\" is no port");
  ExpectRefused({.url = "postgres://truce@h:5432,i:65536/n"}, ErrorCode::kInvalidArgument,
                "\"65536\" is no port");
  ExpectRefused({.url = "host=/nowhere user=truce"}, ErrorCode::kUnavailable, "/nowhere");
  ExpectRefused({.url = server.UrlOf("nothing_there")}, ErrorCode::kUnavailable,
                "database \"nothing_there\" does not exist; make it first");
  ExpectRefused({.url = "postgres://truce@127.0.0.1:1/truce"}, ErrorCode::kUnavailable,
                "connecting to PostgreSQL: connection to server at \"127.0.0.1\", port 1 failed");
  ExpectRefused({.url = "postgres://truce@localhost:1/truce"}, ErrorCode::kUnavailable,
                "connecting to PostgreSQL at \"localhost\": connection to server at ");
  ExpectRefused({.url = "postgres://truce@nowhere.invalid/truce"}, ErrorCode::kUnavailable,
                "look at the URL's host");
}

TEST(PostgresOpening, APasswordThatIsMissingOrWrongIsToldWithItsPlace) {
  const Guarded guarded("opening_password");
  ExpectRefused({.url = guarded.tcp}, ErrorCode::kUnavailable,
                "no password supplied; give it in storePasswordFile or by storePasswordCommand");
  ExpectRefused({.url = guarded.tcp, .password = Password("wrong")}, ErrorCode::kUnavailable,
                "look at the URL's user, and at storePasswordFile");
  const auto fails = [](Deadline) -> Result<std::string> {
    return Error{ErrorCode::kUnavailable, "/run/password: No such file or directory"};
  };
  ExpectRefused({.url = guarded.tcp, .password = fails}, ErrorCode::kUnavailable,
                "/run/password: No such file");
  EXPECT_TRUE(guarded.IsUntouched());
}

TEST(PostgresOpening, ACertificateOfAnotherAuthorityIsToldAndTheRightOneOpens) {
  const Guarded guarded("opening_tls");
  Outsider owner(guarded.url);
  ASSERT_EQ(owner.Run("GRANT CREATE ON DATABASE " + guarded.name + " TO opening_tls"), "");
  const std::string authority = PostgresServer::Shared().authority_file();
  const std::string other = authority + ".other";
  const auto now = SystemClock().Now();
  std::ofstream(other) << IssueForTest({.authority = true,
                                        .from = now - std::chrono::hours(1),
                                        .until = now + std::chrono::hours(1)})
                              .certificate;
  const auto verified = [&](const std::string& file) {
    return PostgresOptions{.url = guarded.tcp + " sslmode=verify-full sslrootcert=" + file,
                           .password = Password("right")};
  };
  ExpectRefused(verified(other), ErrorCode::kUnavailable, "names the authority");
  ExpectRefused(verified("/nowhere.pem"), ErrorCode::kUnavailable, "names the authority");
  EXPECT_TRUE(guarded.IsUntouched());
  EXPECT_TRUE(Opens(verified(authority)));
}

TEST(PostgresOpening, OfSeveralHostsTheFirstThatTakesWritesIsUsed) {
  PostgresServer& server = PostgresServer::Shared();
  const std::string url = server.MakeDatabase();
  const std::string one = url.substr(url.find('=') + 1, url.find(' ') - url.find('=') - 1);
  const std::string rest = url.substr(url.find(' '));
  const std::string port = rest.substr(rest.find("port=") + 5, rest.find(" user") - 6);
  const std::string others = rest.substr(rest.find(" user"));
  EXPECT_TRUE(Opens({.url = "host=/nowhere," + one + " port=" + port + others}));
  ExpectRefused({.url = "host=/nowhere,/nowhere.either" + others}, ErrorCode::kUnavailable,
                "none of the URL's 2 hosts can be used; the last one: ");
  ExpectRefused({.url = "host=" + one + "," + one + " port=" + port + others +
                        " options='-c default_transaction_read_only=on'"},
                ErrorCode::kUnavailable, "name the primary in the URL");
}

TEST(PostgresOpening, AServerThatIsNoPrimaryOrOnlyLooksLikePostgresIsRefused) {
  PostgresServer& server = PostgresServer::Shared();
  ExpectRefused({.url = server.MakeDatabase() + " options='-c default_transaction_read_only=on'"},
                ErrorCode::kInvalidArgument, "standby, or read-only");
  // Its functions are found before the server's own.
  const std::string url = server.MakeDatabase();
  const std::string first = url + " options='-c search_path=public,pg_catalog'";
  Outsider outsider(url);
  ASSERT_EQ(
      outsider.Run("CREATE FUNCTION public.pg_try_advisory_xact_lock(integer, integer) RETURNS "
                   "boolean LANGUAGE sql AS 'SELECT true'"),
      "");
  ExpectRefused({.url = first}, ErrorCode::kInvalidArgument, "two connections got one");
  ASSERT_EQ(outsider.Run("CREATE FUNCTION public.version() RETURNS text LANGUAGE sql AS $$SELECT "
                         "'CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu)'$$"),
            "");
  ExpectRefused({.url = first}, ErrorCode::kInvalidArgument, "hold nobody off");
  EXPECT_EQ(outsider.Run("SELECT 'truce'::regnamespace"), "3F000");
}

TEST(PostgresOpening, MissingRightsAreNamedAndNothingIsWritten) {
  const Guarded guarded("opening_rights");
  const PostgresOptions options{.url = guarded.tcp, .password = Password("right")};
  ExpectRefused(options, ErrorCode::kInvalidArgument, "permission denied for database");
  ExpectRefused(options, ErrorCode::kInvalidArgument, "truce prepare-store");
  EXPECT_TRUE(guarded.IsUntouched());
  ASSERT_TRUE(Opens({.url = guarded.url}));
  ExpectRefused(options, ErrorCode::kInvalidArgument, "permission denied for schema truce");
  Outsider owner(guarded.url);
  ASSERT_EQ(owner.Run("GRANT USAGE ON SCHEMA truce TO opening_rights; "
                      "GRANT SELECT ON ALL TABLES IN SCHEMA truce TO opening_rights"),
            "");
  ExpectRefused(options, ErrorCode::kInvalidArgument, "lacks rights: DELETE on truce.agreements, ");
  ASSERT_EQ(owner.Run("GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA truce TO "
                      "opening_rights; REVOKE UPDATE, DELETE ON truce.audit FROM opening_rights; "
                      "REVOKE INSERT, UPDATE, DELETE ON truce.migrations FROM opening_rights"),
            "");
  EXPECT_TRUE(Opens(options)) << "what the server needs, and no more";
}

TEST(PostgresOpening, ANewerOrStrangeSchemaIsRefusedAndAnOlderOneIsBroughtUp) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  ASSERT_TRUE(Opens({.url = url}));
  ASSERT_TRUE(Opens({.url = url})) << "what is there is taken as it is";
  Outsider outsider(url);
  EXPECT_EQ(outsider.Run("INSERT INTO truce.migrations VALUES (99, '0099_later', 'x')"), "");
  ExpectRefused({.url = url}, ErrorCode::kInvalidArgument, "a newer Truce");
  EXPECT_EQ(outsider.Run("DELETE FROM truce.migrations WHERE version = 99; "
                         "UPDATE truce.migrations SET checksum = 'x'"),
            "");
  ExpectRefused({.url = url}, ErrorCode::kInvalidArgument, "a development version");

  const std::string older = PostgresServer::Shared().MakeDatabase();
  ASSERT_TRUE(Opens({.url = older}));
  std::vector<Migration> migrations(PostgresMigrations().begin(), PostgresMigrations().end());
  migrations.push_back({99, "0099_later", "y", "CREATE TABLE truce.later (a integer)"});
  auto link = PgLink::Connect({.url = older}, Soon());
  ASSERT_TRUE(link.ok());
  EXPECT_TRUE(MigratePostgres(*link.value(), migrations, Soon()).ok());
  EXPECT_EQ(Outsider(older).Run("SELECT a FROM truce.later"), "");
}

// The roles of the role script: the owner makes the tables, the server's user only uses them.
TEST(PostgresOpening, TheTablesBelongToTheirOwnerAndItsUsersGetTheirRights) {
  const Guarded migrate("truce_migrate");
  Outsider admin(migrate.url);
  ASSERT_EQ(admin.Run("CREATE ROLE truce_owner NOLOGIN; GRANT truce_owner TO truce_migrate; "
                      "GRANT CREATE ON DATABASE " +
                      migrate.name +
                      " TO truce_owner; CREATE ROLE truce_app NOLOGIN; CREATE ROLE truce_read "
                      "NOLOGIN; CREATE ROLE truce_server LOGIN PASSWORD 'right' IN ROLE truce_app"),
            "");
  ASSERT_TRUE(Opens({.url = migrate.tcp, .password = Password("right")}));
  EXPECT_EQ(admin.Run("SELECT 1 / count(*) FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner "
                      "WHERE c.oid = 'truce.owners'::regclass AND r.rolname = 'truce_owner'"),
            "");
  const PostgresOptions server{
      .url = PostgresServer::Shared().TcpUrlOf(migrate.name, "truce_server"),
      .password = Password("right")};
  const auto opened = PostgresStore::Open(server, Soon());
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  ASSERT_TRUE(Write(*opened.value(), SampleCreate("a", "u1")).ok());
  ASSERT_TRUE(Write(*opened.value(), SampleCreate("b", "u2")).ok());
  Changes let_go;
  let_go.put_settings = {{"audit.let-go", "1000"}};
  ASSERT_TRUE(Write(*opened.value(), let_go).ok());
  EXPECT_EQ(ContentsOf(*opened.value()).value().audit.size(), 1U);
  Outsider as_server(server.url + " password=right");
  EXPECT_EQ(as_server.Run("DELETE FROM truce.audit"), "42501");
  EXPECT_EQ(as_server.Run("CREATE TABLE truce.more (a integer)"), "42501");
  EXPECT_EQ(admin.Run("SET ROLE truce_read; SELECT count(*) FROM truce.owners"), "");
  EXPECT_EQ(admin.Run("DELETE FROM truce.owners"), "42501");
}

// Somebody holds what a decision needs until its time is over.
TEST(PostgresOpening, ALockThatIsWaitedForInVainIsADeadlineNeverAFault) {
  const std::string url = PostgresServer::Shared().MakeDatabase();
  const auto opened = PostgresStore::Open({.url = url}, Soon());
  ASSERT_TRUE(opened.ok());
  Outsider holder(url);
  ASSERT_EQ(holder.Run("BEGIN; SELECT pg_advisory_xact_lock(1414681923, 0)"), "");
  for (int i = 0; i < 10; ++i) {
    const auto late = opened.value()->Apply(
        {}, [](const Facts&) { return Changes{}; },
        std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().code, ErrorCode::kDeadlineExceeded) << late.error().message;
  }
  EXPECT_TRUE(opened.value()->Health().ok());
}

}  // namespace postgres_opening_test
}  // namespace truce::testing
