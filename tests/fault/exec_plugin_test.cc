// Exec plugins, good and bad, and the session that runs them.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/fake_clock.h"
#include "tests/support/temporary_folder.h"
#include "webhook/kube/exec_plugin.h"
#include "webhook/kube/session.h"

namespace truce {
namespace exec_plugin_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr std::string_view kVersion = "client.authentication.k8s.io/v1";

std::string Credential(const std::string& status, std::string_view version = kVersion) {
  return R"({"kind":"ExecCredential","apiVersion":")" + std::string(version) + R"(","status":)" +
         status + "}";
}

class ExecPlugin : public testing::Test {
 protected:
  ExecPlugin() {
    settings_.origin = "test";
    settings_.address = {true, "127.0.0.1", 6443, ""};
    settings_.user.exec.emplace();
    settings_.user.exec->api_version = kVersion;
    settings_.user.exec->command = folder_.path() / "plugin";
    settings_.user.exec->install_hint = "install the plugin";
  }

  // The plugin is this shell script.
  void Write(const std::string& script) {
    const auto file = folder_.path() / "plugin";
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    ::chmod(file.c_str(), 0700);
  }
  void Prints(const std::string& text) { Write("cat <<'END'\n" + text + "\nEND"); }

  Result<ExecCredential> Run(milliseconds time = seconds(20)) {
    return RunExecPlugin(settings_, "PEM", steady_clock::now() + time);
  }

  TemporaryFolder folder_;
  ServerSettings settings_;
};

TEST_F(ExecPlugin, GivesTokensAndCertificates) {
  Prints(Credential(R"({"token":"abc","expirationTimestamp":"2026-11-21T08:00:00Z"})"));
  const auto token = Run();
  ASSERT_TRUE(token.ok()) << token.error().message;
  EXPECT_EQ(token.value().token, "abc");
  EXPECT_EQ(token.value().expires, ParseTimestamp("2026-11-21T08:00:00Z"));
  Prints(Credential(R"({"clientCertificateData":"C","clientKeyData":"K"})"));
  const auto certificate = Run();
  ASSERT_TRUE(certificate.ok()) << certificate.error().message;
  EXPECT_EQ(certificate.value().certificate, "C");
  EXPECT_EQ(certificate.value().key, "K");
}

TEST_F(ExecPlugin, IsToldArgumentsEnvironmentAndCluster) {
  settings_.user.exec->arguments = {"eks", "get token"};
  settings_.user.exec->environment = {{"PROFILE", "prod"}, {"PATH", "/usr/bin:/bin"}};
  settings_.user.exec->provide_cluster_info = true;
  const auto seen = folder_.path() / "seen";
  Write("{ echo \"$1|$2|$PROFILE|$HOME\"; echo \"$KUBERNETES_EXEC_INFO\"; cat; } > " +
        seen.string() + "\ncat <<'END'\n" + Credential(R"({"token":"abc"})") + "\nEND");
  ASSERT_TRUE(Run().ok());
  std::ifstream in(seen);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_TRUE(text.starts_with("eks|get token|prod|")) << text;
  EXPECT_NE(text.find(R"("server":"https://127.0.0.1:6443")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("certificate-authority-data":"UEVN")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("interactive":false)"), std::string::npos) << text;
}

TEST_F(ExecPlugin, BadPluginsAreNamedAndTheirOutputIsNot) {
  struct Row {
    std::string script;
    const char* part;
  };
  const auto prints = [](const std::string& text) { return "cat <<'END'\n" + text + "\nEND"; };
  const std::vector<Row> rows = {
      {"echo 'no profile secret-free' >&2; exit 3", "ended with code 3: no profile"},
      {"kill -9 $$", "killed by signal 9"},
      {"head -c 3000000 /dev/zero", "more than 1 MiB"},
      {"echo top-secret", "no JSON object"},
      {prints(R"({"token":"top-secret"})"), "no ExecCredential"},
      {prints(Credential(R"({"token":"top-secret"})", "client.authentication.k8s.io/v1beta1")),
       "another version"},
      {prints(Credential("1")), "no status"},
      {prints(Credential("{}")), "neither token nor certificate"},
      {prints(Credential(R"({"clientKeyData":"top-secret"})")), "without"},
      {prints(Credential(R"({"token":"top-secret","expirationTimestamp":"soon"})")), "not a time"},
  };
  for (const Row& row : rows) {
    Write(row.script);
    const auto got = Run();
    ASSERT_FALSE(got.ok()) << row.script;
    EXPECT_EQ(got.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(got.error().message.find(row.part), std::string::npos) << got.error().message;
    EXPECT_NE(got.error().message.find("/plugin'"), std::string::npos) << got.error().message;
    EXPECT_NE(got.error().message.find("install the plugin"), std::string::npos);
    EXPECT_EQ(got.error().message.find("top-secret"), std::string::npos) << got.error().message;
  }
  settings_.user.exec->command = "no-such-plugin-anywhere";
  const auto missing = Run();
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("cannot be started"), std::string::npos);
}

TEST_F(ExecPlugin, AHangingPluginAndItsChildrenAreKilled) {
  const auto pid = folder_.path() / "pid";
  Write("tail -f /dev/null & echo $! > " + pid.string() + "\ntail -f /dev/null");
  const auto begin = steady_clock::now();
  const auto got = Run(milliseconds(500));
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().message.find("took too long"), std::string::npos);
  EXPECT_LT(steady_clock::now() - begin, seconds(10));
  int child = 0;
  std::ifstream(pid) >> child;
  ASSERT_GT(child, 0);
  // Killed, it stays listed until somebody collects it; then it is gone or a zombie.
  const auto is_running = [&] {
    std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    std::getline(stat, text);
    return !text.empty() && text.find(") Z ") == std::string::npos;
  };
  while (is_running() && steady_clock::now() < begin + seconds(20)) std::this_thread::yield();
  EXPECT_FALSE(is_running());
}

// A plugin that left a child behind with its output open must not hold us.
TEST_F(ExecPlugin, AChildThatKeepsTheOutputOpenHoldsNobody) {
  Write("tail -f /dev/null & cat <<'END'\n" + Credential(R"({"token":"abc"})") + "\nEND");
  const auto begin = steady_clock::now();
  const auto got = Run();
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_LT(steady_clock::now() - begin, seconds(10));
}

TEST_F(ExecPlugin, SessionsRenewCredentialsBeforeTheyExpire) {
  // Each run appends a line and gives the number of lines as token.
  const auto runs = folder_.path() / "runs";
  Write("echo run >> " + runs.string() + "\nn=$(wc -l < " + runs.string() + ")\ncat <<END\n" +
        Credential(R"({"token":"token-$n","expirationTimestamp":"2026-11-21T08:10:00Z"})") +
        "\nEND");
  FakeClock clock(*ParseTimestamp("2026-11-21T08:00:00Z"));
  settings_.verify = false;
  auto opened = ServerSession::Open(settings_, clock, {.reread = milliseconds(20)});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const auto session = std::move(opened).value();
  EXPECT_EQ(session->Current()->token, "token-1");
  const std::uint64_t first = session->Current()->generation;

  EXPECT_TRUE(session->Renew(first, steady_clock::now() + seconds(20)));
  EXPECT_EQ(session->Current()->token, "token-2");
  // Whoever still uses the old one need not make the plugin run again.
  EXPECT_TRUE(session->Renew(first, steady_clock::now() + seconds(20)));
  EXPECT_EQ(session->Current()->token, "token-2");

  clock.Advance(std::chrono::minutes(9) + seconds(30));
  const auto deadline = steady_clock::now() + seconds(20);
  while (session->Current()->token == "token-2" && steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_NE(session->Current()->token, "token-2");
}

TEST_F(ExecPlugin, ASessionWithoutCredentialsDoesNotOpen) {
  Write("exit 1");
  const SystemClock clock;
  const auto session = ServerSession::Open(settings_, clock, {});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().code, ErrorCode::kUnavailable);
}

}  // namespace exec_plugin_test
}  // namespace truce
