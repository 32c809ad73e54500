// Kubeconfig files and service accounts: what is read, and how errors name file, line and key.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "webhook/kube/kube_config.h"
#include "webhook/kube/proxy.h"

namespace truce {
namespace kube_config_test {

// Where an error lies: "FILE:LINE: KEY", the head of its text.
std::string KeyOf(const Error& error) {
  const std::size_t line = error.message.find(": ");
  return error.message.substr(0, error.message.find(": ", line + 2));
}

class KubeConfig : public testing::Test {
 protected:
  Result<ServerSettings> Read(const std::string& text, std::string_view context = {}) {
    std::ofstream(file_) << text;
    return ReadKubeConfig(file_, context, variables_);
  }

  // A file with these members of its one cluster and user.
  static std::string With(const std::string& cluster, const std::string& user) {
    return "apiVersion: v1\n"
           "kind: Config\n"
           "current-context: prod\n"
           "contexts:\n"
           "- name: prod\n"
           "  context: {cluster: c, user: u}\n"
           "clusters:\n"
           "- name: c\n"
           "  cluster:\n    " +
           cluster +
           "\n"
           "users:\n"
           "- name: u\n"
           "  user:\n    " +
           user + "\n";
  }
  static std::string WithUser(const std::string& user) {
    return With("server: https://10.0.0.1:6443", user);
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "config";
  std::map<std::string, std::string> variables_;
};

TEST_F(KubeConfig, NamesItsProxy) {
  const auto read =
      Read(With("{server: 'https://a', proxy-url: 'http://u:p%20q@proxy:3128'}", "{}"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  const ProxySettings expected{{false, "proxy", 3128, ""}, "Basic dTpwIHE="};
  EXPECT_EQ(read.value().proxy, expected);
  EXPECT_EQ(FirstHop(read.value()).host, "proxy");
  variables_ = {{"HTTPS_PROXY", "http://other"}};
  EXPECT_EQ(Read(With("{server: 'https://a', proxy-url: 'http://proxy'}", "{}"))
                .value()
                .proxy->address.host,
            "proxy");
  EXPECT_EQ(Read(With("{server: 'https://a'}", "{}")).value().proxy->address.host, "other");
  variables_["NO_PROXY"] = "a";
  EXPECT_EQ(Read(With("{server: 'https://a'}", "{}")).value().proxy, std::nullopt);
}

TEST_F(KubeConfig, ReadsTheCurrentContextOrTheNamedOne) {
  const std::string text =
      "current-context: one\n"
      "contexts:\n"
      "- {name: one, context: {cluster: a, user: x, namespace: team}}\n"
      "- {name: two, context: {cluster: b}}\n"
      "clusters:\n"
      "- {name: a, cluster: {server: 'https://a.example.org'}}\n"
      "- {name: b, cluster: {server: 'https://[fd00::1]:6443/k8s/c-1/'}}\n"
      "users:\n"
      "- {name: x, user: {token: abc}}\n";
  const auto one = Read(text);
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(one.value().address, (ServerAddress{true, "a.example.org", 443, ""}));
  EXPECT_EQ(one.value().user.token.text, "abc");
  const auto two = Read(text, "two");
  ASSERT_TRUE(two.ok()) << two.error().message;
  EXPECT_EQ(two.value().address, (ServerAddress{true, "fd00::1", 6443, "/k8s/c-1"}));
  EXPECT_EQ(HostAndPort(two.value().address), "[fd00::1]:6443");
  EXPECT_EQ(two.value().user, UserSettings{});
}

TEST_F(KubeConfig, ReadsJsonToo) {
  const auto read = Read(
      R"({"kind":"Config","current-context":"a","contexts":[{"name":"a","context":{"cluster":"a"}}],)"
      R"("clusters":[{"name":"a","cluster":{"server":"https://a:1"}}]})");
  ASSERT_TRUE(read.ok()) << read.error().message;
}

TEST_F(KubeConfig, ReadsAuthoritiesAndCertificates) {
  const auto data =
      Read(With("{server: 'https://a', certificate-authority-data: UEVN, "
                "tls-server-name: kubernetes}",
                "{client-certificate-data: Y2VydA==, client-key-data: a2V5}"));
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data.value().authority.text, "PEM");
  EXPECT_EQ(data.value().tls_server_name, "kubernetes");
  EXPECT_EQ(data.value().user.certificate.text, "cert");
  EXPECT_EQ(data.value().user.key.text, "key");
  EXPECT_TRUE(data.value().verify);

  const auto files = Read(With("{server: 'https://a', certificate-authority: pki/ca.crt}",
                               "{client-certificate: /etc/me.crt, client-key: ./me.key}"));
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files.value().authority.file, folder_.path() / "pki/ca.crt");
  EXPECT_EQ(files.value().user.certificate.file, "/etc/me.crt");
  EXPECT_EQ(files.value().user.key.file, folder_.path() / "me.key");

  const auto careless = Read(With("{server: 'https://a', insecure-skip-tls-verify: true}", "{}"));
  ASSERT_TRUE(careless.ok()) << careless.error().message;
  EXPECT_FALSE(careless.value().verify);
}

TEST_F(KubeConfig, ATokenFileWinsOverItsText) {
  const auto read = Read(WithUser("{token: old, tokenFile: token}"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().user.token, (TextSource{"", folder_.path() / "token"}));
}

TEST_F(KubeConfig, ReadsExecPlugins) {
  const auto read = Read(
      WithUser("exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws, args: [eks, "
               "get-token], env: [{name: AWS_PROFILE, value: prod}], installHint: install it, "
               "provideClusterInfo: true, interactiveMode: IfAvailable}"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  const ExecSettings expected{"client.authentication.k8s.io/v1beta1",
                              "aws",
                              {"eks", "get-token"},
                              {{"AWS_PROFILE", "prod"}},
                              "install it",
                              true};
  EXPECT_EQ(read.value().user.exec, expected);
  const auto relative = Read(WithUser(
      "exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/login, args: null}"));
  ASSERT_TRUE(relative.ok()) << relative.error().message;
  EXPECT_EQ(relative.value().user.exec->command, folder_.path() / "bin/login");
}

TEST_F(KubeConfig, ErrorsNameFileLineAndKey) {
  struct Row {
    std::string text;
    int line;
    const char* key;
  };
  const std::string exec = "exec: {apiVersion: client.authentication.k8s.io/v1, ";
  const std::vector<Row> rows = {
      {"contexts: []\n", 1, "current-context"},
      {"current-context: a\ncontexts: []\n", 2, "contexts"},
      {"current-context: a\ncontexts: {}\n", 2, "contexts"},
      {"current-context: a\ncontexts:\n- 1\n", 3, "contexts"},
      {"current-context: a\ncontexts:\n- context: {}\n", 3, "contexts"},
      {"current-context: a\ncontexts:\n- name: a\n", 3, "context"},
      {"current-context: a\ncontexts:\n- name: a\n  context: {user: u}\n", 4, "cluster"},
      {"current-context: a\ncontexts:\n- name: a\n  context: {cluster: c}\n", 1, "clusters"},
      {"current-context: [a]\n", 1, "current-context"},
      {With("{}", "{}"), 10, "server"},
      {With("server: ftp://a", "{}"), 10, "server"},
      {With("server: https://a:99999", "{}"), 10, "server"},
      {With("server: https://me:secret@a", "{}"), 10, "server"},
      {With("server: 10.0.0.1", "{}"), 10, "server"},
      {With("{server: 'https://a', proxy-url: 'socks5://p'}", "{}"), 10, "proxy-url"},
      {With("{server: 'https://a', certificate-authority-data: '*'}", "{}"), 10,
       "certificate-authority-data"},
      {With("{server: 'https://a', insecure-skip-tls-verify: maybe}", "{}"), 10,
       "insecure-skip-tls-verify"},
      {With("{server: 'https://a', insecure-skip-tls-verify: true, certificate-authority: a}",
            "{}"),
       10, "insecure-skip-tls-verify"},
      {WithUser("username: me"), 14, "username"},
      {WithUser("password: x"), 14, "password"},
      {WithUser("auth-provider: {name: oidc}"), 14, "auth-provider"},
      {WithUser("as: admin"), 14, "as"},
      {WithUser("client-key: a"), 14, "client-certificate"},
      {WithUser("client-certificate: a"), 14, "client-key"},
      {WithUser("token: [a]"), 14, "token"},
      {WithUser("exec: {command: a}"), 14, "apiVersion"},
      {WithUser("exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: a}"), 14,
       "apiVersion"},
      {WithUser(exec + "command: ''}"), 14, "command"},
      {WithUser(exec + "command: a, args: b}"), 14, "args"},
      {WithUser(exec + "command: a, args: [[]]}"), 14, "args"},
      {WithUser(exec + "command: a, env: {}}"), 14, "env"},
      {WithUser(exec + "command: a, env: [{value: a}]}"), 14, "env"},
      {WithUser(exec + "command: a, interactiveMode: Always}"), 14, "interactiveMode"},
  };
  for (const Row& row : rows) {
    const auto read = Read(row.text);
    ASSERT_FALSE(read.ok()) << row.key << "\n" << row.text;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(KeyOf(read.error()), file_.string() + ":" + std::to_string(row.line) + ": " + row.key)
        << read.error().message;
    EXPECT_EQ(read.error().message.find("secret"), std::string::npos);
  }
}

TEST_F(KubeConfig, BrokenFilesAreErrorsWithTheirLine) {
  for (const char* text : {"a: [", "\tcontexts: 1", "- 1", "a: 1\na: 2\n", "\xff\xfe"}) {
    const auto read = Read(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(KeyOf(read.error()).substr(0, file_.string().size()), file_.string());
  }
}

TEST_F(KubeConfig, MissingAndSeveralFiles) {
  const auto missing = ReadKubeConfig(folder_.path() / "none", "", {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  const auto several = ReadKubeConfig(file_.string() + ":/other", "", {});
  ASSERT_FALSE(several.ok());
  EXPECT_EQ(several.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(several.error().message, "kubeconfig '" + file_.string() +
                                         ":/other': several files are not supported; name one "
                                         "(kubectl config view --flatten makes one of them)");
}

TEST_F(KubeConfig, TheServiceAccountOfAPod) {
  ServiceAccountOptions options{folder_.path(), "fd00::1", "443"};
  EXPECT_EQ(ReadServiceAccount(options).error().code, ErrorCode::kNotFound);
  std::ofstream(folder_.path() / "ca.crt") << "PEM";
  std::ofstream(folder_.path() / "token") << "abc";
  const auto read = ReadServiceAccount(options);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().address, (ServerAddress{true, "fd00::1", 443, ""}));
  EXPECT_EQ(read.value().authority.file, folder_.path() / "ca.crt");
  EXPECT_EQ(read.value().user.token.file, folder_.path() / "token");
  options.host = "10.96.0.1";
  EXPECT_EQ(ReadServiceAccount(options).value().address.host, "10.96.0.1");
  options.port = "https";
  EXPECT_EQ(ReadServiceAccount(options).error().code, ErrorCode::kInvalidArgument);
  options.host.clear();
  EXPECT_EQ(ReadServiceAccount(options).error().code, ErrorCode::kNotFound);
}

TEST(ServerAddressTest, LoopbackIsKnownByAddress) {
  for (const char* host : {"localhost", "127.0.0.1", "127.8.9.1", "::1"}) {
    EXPECT_TRUE(IsLoopback(host)) << host;
  }
  for (const char* host : {"localhost.example.org", "10.0.0.1", "127.0.0.1.nip.io", "::2", ""}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
}

TEST(Proxy, IsWrittenInOneWay) {
  EXPECT_EQ(ParseProxy("proxy:3128").value(), (ProxySettings{{false, "proxy", 3128, ""}, ""}));
  EXPECT_EQ(ParseProxy("http://[::1]").value().address.port, 80);
  for (const char* bad : {"https://u:secret@proxy", "socks5://proxy", "http://", "http://u:secret@",
                          "http://u:secret@proxy/path", "http://proxy:0", "u:secret@a b"}) {
    const auto parsed = ParseProxy(bad);
    ASSERT_FALSE(parsed.ok()) << bad;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument) << bad;
    EXPECT_EQ(parsed.error().message.find("secret"), std::string::npos) << bad;
  }
}

TEST(Proxy, LeavesOutWhatTheListMeans) {
  struct Case {
    const char* server;
    const char* direct;
    bool is_asked;  // the proxy
  };
  for (const Case& each : std::vector<Case>{
           {"https://a.example.org", "", true},
           {"http://a.example.org", "", false},
           {"https://localhost:6443", "", false},
           {"https://127.0.0.8", "", false},
           {"https://[::1]", "", false},
           {"https://a.example.org", "*", false},
           {"https://a.example.org", "b, EXAMPLE.org ,c", false},
           {"https://A.example.org", "a.example.org", false},
           {"https://a.example.org", ".example.org", false},
           {"https://a.example.org", "*.example.org", false},
           {"https://example.org", ".example.org", true},
           {"https://badexample.org", "example.org", true},
           {"https://a.example.org", "a.example.org:6443", true},
           {"https://a.example.org:6443", "a.example.org:6443", false},
           {"https://10.1.2.3", "10.0.0.0/8", false},
           {"https://11.1.2.3", "10.0.0.0/8", true},
           {"https://10.1.2.3", "10.1.2.3", false},
           {"https://10.1.2.3:6443", "10.1.2.3:6443", false},
           {"https://10.1.2.30", "10.1.2.3", true},
           {"https://[fd00::5]", "fd00::/64", false},
           {"https://[fd01::5]", "fd00::/64", true},
           {"https://[fd00::5]", "fd00::5", false},
           {"https://[fd00::5]:6443", "[fd00::5]:6443", false},
           {"https://10.1.2.3", "10.0.0.0/x,10.1.2.3/33,10.1.2.3/4294967295,/,:,,[", true},
           {"https://a.example.org", "10.0.0.0/8,.", true}}) {
    const auto server = ParseServerAddress(each.server);
    ASSERT_TRUE(server.ok()) << each.server;
    const auto proxy =
        ProxyFor(server.value(), {{"https_proxy", "proxy:1"}, {"NO_PROXY", each.direct}});
    ASSERT_TRUE(proxy.ok()) << proxy.error().message;
    EXPECT_EQ(proxy.value().has_value(), each.is_asked) << each.server << " " << each.direct;
  }
  ServerAddress local = ParseServerAddress("https://truce").value();
  EXPECT_FALSE(ProxyFor(local, {}).value());
  EXPECT_EQ(ProxyFor(local, {{"HTTPS_PROXY", "a:1"}, {"https_proxy", "b:1"}}).value()->address.host,
            "a");
  EXPECT_EQ(ProxyFor(local, {{"HTTPS_PROXY", "ftp://a"}}).error().message,
            "HTTPS_PROXY: a proxy is written http://[USER:PASSWORD@]HOST[:PORT]; Truce speaks to a "
            "proxy over http:// only");
  local.socket = "/run/truce.sock";
  EXPECT_FALSE(ProxyFor(local, {{"HTTPS_PROXY", "a:1"}}).value());
}

}  // namespace kube_config_test
}  // namespace truce
