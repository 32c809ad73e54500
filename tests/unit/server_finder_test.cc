// Which server a command asks: by flags, variables, files, and in a Pod.
#include "webhook/cli/server/server_finder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace truce {
namespace server_finder_test {

constexpr char kKubeConfig[] = R"(
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://192.0.2.1:6443"}}]
users: [{name: u, user: {token: from-kubeconfig}}]
)";

class ServerFinder : public ::testing::Test {
 protected:
  ServerFinder() {
    flags_.config = std::make_shared<ConfigFlags>();
    pod_ = {Path("pod-token"), Path("pod-ca")};
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
  ServerPlace Find() {
    auto place = FindServer(flags_, {out_, err_, variables_}, pod_);
    EXPECT_TRUE(place.ok()) << (place.ok() ? "" : place.error().message);
    return place.ok() ? std::move(place).value() : ServerPlace{};
  }
  std::string ErrorOf() {
    const auto place = FindServer(flags_, {out_, err_, variables_}, pod_);
    return place.ok() ? "" : place.error().message;
  }
  void BeInPod() { variables_["KUBERNETES_SERVICE_HOST"] = "10.0.0.1"; }

  const TemporaryFolder folder_;
  ApiFlags flags_;
  PodFiles pod_;
  std::map<std::string, std::string> variables_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ServerFinder, InAPodTheServiceItselfWithWhatIsMounted) {
  BeInPod();
  const ServerPlace bare = Find();
  EXPECT_EQ(bare.name, "https://truce-api.truce-system.svc");
  EXPECT_EQ(bare.network.address.host, "truce-api.truce-system.svc");
  EXPECT_EQ(bare.network.address.port, 443) << "of the Service that the chart makes";
  EXPECT_EQ(bare.network.user.token.file, Path("pod-token"));
  EXPECT_FALSE(bare.network.authority.given()) << "none is mounted";
  EXPECT_EQ(bare.prefix + bare.socket + bare.account, "");
  Write("pod-ca", "x");
  EXPECT_EQ(Find().network.authority.file, Path("pod-ca"));
}

TEST_F(ServerFinder, AProxyIsForServersOutsideOfTheCluster) {
  variables_["HTTPS_PROXY"] = "http://proxy:3128";
  variables_["TRUCE_SERVER"] = "https://truce.example.org";
  EXPECT_EQ(Find().network.proxy->address.host, "proxy");
  variables_["NO_PROXY"] = "example.org";
  EXPECT_FALSE(Find().network.proxy);
  variables_.erase("TRUCE_SERVER");
  BeInPod();
  variables_["HTTPS_PROXY"] = "socks5://proxy";
  EXPECT_FALSE(Find().network.proxy) << "a Service of the cluster, whatever the variable holds";
}

TEST_F(ServerFinder, InAPodWhatIsSaidWins) {
  BeInPod();
  Write("pod-ca", "x");
  variables_["TRUCE_VIA"] = "platform/ownership";
  variables_["TRUCE_TOKEN_FILE"] = "/my/token";
  variables_["TRUCE_CA_FILE"] = "/my/ca";
  const ServerPlace place = Find();
  EXPECT_EQ(place.name, "https://ownership.platform.svc");
  EXPECT_EQ(place.network.user.token.file, "/my/token");
  EXPECT_EQ(place.network.authority.file, "/my/ca");
  variables_["TRUCE_VIA"] = "no-namespace";
  EXPECT_EQ(ErrorOf(), "--via: 'no-namespace' is not of the form NAMESPACE/NAME");
  variables_["TRUCE_VIA"] = "platform/ownership:8444";
  EXPECT_EQ(Find().name, "https://ownership.platform.svc:8444");
  for (const std::string bad : {"", "api", "123456"}) {
    variables_["TRUCE_VIA"] = "platform/ownership:" + bad;
    EXPECT_EQ(ErrorOf(), "--via: '" + bad + "' is not a port");
  }
  variables_["TRUCE_SERVER"] = "https://truce.example.org";
  EXPECT_EQ(Find().name, "https://truce.example.org");
  variables_.erase("TRUCE_SERVER");
  variables_.erase("TRUCE_VIA");
  flags_.config->values["dataDir"] = "/data";
  EXPECT_EQ(Find().socket, "/data/truce.sock") << "the server's own machine";
}

TEST_F(ServerFinder, AKubeconfigIsBehindTheApiServerAlsoInAPod) {
  variables_["KUBECONFIG"] = Write("kubeconfig", kKubeConfig);
  for (const bool in_pod : {false, true}) {
    if (in_pod) BeInPod();
    const ServerPlace place = Find();
    EXPECT_EQ(place.network.address.host, "192.0.2.1");
    EXPECT_EQ(place.prefix, "/api/v1/namespaces/truce-system/services/https:truce-api:api/proxy");
  }
  flags_.via = "platform/ownership";
  flags_.account = "ci/robot";
  const ServerPlace named = Find();
  EXPECT_EQ(named.prefix, "/api/v1/namespaces/platform/services/https:ownership:api/proxy");
  EXPECT_EQ(named.account, "ci/robot");
  flags_.via = "platform/ownership:8444";
  EXPECT_EQ(Find().prefix, "/api/v1/namespaces/platform/services/https:ownership:8444/proxy");
}

TEST_F(ServerFinder, WhoActsAsAnotherGoesThroughTheApiServer) {
  std::string kubeconfig = kKubeConfig;
  kubeconfig.replace(kubeconfig.find("context: {"), 10, "context: {namespace: team-b, ");
  variables_["KUBECONFIG"] = Write("kubeconfig", kubeconfig);
  EXPECT_TRUE(Find().impersonation.empty());
  EXPECT_EQ(Find().network.ns, "team-b");
  flags_.as = "ann";
  flags_.as_groups = {"one", "two"};
  const Parameters headers = {
      {"Impersonate-User", "ann"}, {"Impersonate-Group", "one"}, {"Impersonate-Group", "two"}};
  EXPECT_EQ(Find().impersonation, headers);
  variables_["TRUCE_DATA_DIR"] = "/data";
  EXPECT_NE(Find().prefix, "") << "a socket knows no other user";
  variables_["TRUCE_SERVER"] = "https://truce.example.org";
  EXPECT_EQ(ErrorOf(), "--as is for the Kubernetes API server; leave out --server");
}

TEST_F(ServerFinder, OutsideOfAPodWithoutAnythingTheServerBesideTheDefaults) {
  EXPECT_TRUE(Find().socket.ends_with("/truce.sock"));
  flags_.kubeconfig = Path("missing");
  EXPECT_NE(ErrorOf(), "");
}

TEST_F(ServerFinder, WhatOnlyAnOperatorHasNeverGoesOverTheNetwork) {
  variables_["TRUCE_SERVER"] = "https://truce.example.org";
  variables_["KUBECONFIG"] = Write("kubeconfig", kKubeConfig);
  flags_.config->values["dataDir"] = "/data";
  flags_.beside_only = true;
  const ServerPlace place = Find();
  EXPECT_EQ(place.name, "/data/truce.sock");
  EXPECT_EQ(place.network.address.socket, place.socket);
}

TEST_F(ServerFinder, ASocketThatIsMissingOrCannotBe) {
  flags_.beside_only = true;
  flags_.config->values["dataDir"] = Path("none");
  const Deadline soon = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  const auto missing = ConnectTo(Find(), soon);
  ASSERT_TRUE(missing.ok());
  const auto answer = missing.value()->Send({"/api/v1/version"}, soon);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kNotFound);
  flags_.config->values["dataDir"] = Path(std::string(120, 'x'));
  const auto too_long = ConnectTo(Find(), soon);
  ASSERT_FALSE(too_long.ok());
  EXPECT_EQ(too_long.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace server_finder_test
}  // namespace truce
