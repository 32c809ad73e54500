// truce_scripted_api: a scripted API server with generated Buckets, for tests and benchmarks that
// run other programs against it.
//
//   truce_scripted_api [--port N] [--kinds N] [--objects M] [--queues Q] [--rate R] [--token T]
//                      [--seed S]
//
// Serves N kinds with M managed resources in all, spread evenly; changes R of them per second. The
// first kind is s3.aws.upbound.io/v1beta2 Bucket. Beside them Q Queues of ProviderConfig "prod", of
// which nothing tells the account. Prints one line {"port":…,"url":…,"kubeconfig":…}
// when all of them are there, then one line {"version":…,"changes":…} per second, until its
// standard input ends. Lines of it are commands: `rate R`: from now on so many changes per second;
// `account N`: from now on ProviderConfig "prod" has a role in account N;
// `relist`: the history is compacted and every connection cut, so that all watchers list again.
#include <poll.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/support/scripted_api_server.h"
#include "tests/support/temporary_folder.h"

namespace truce {
namespace {

using std::chrono::steady_clock;

struct Options {
  int port = 0;
  int kinds = 1;
  int objects = 100;
  int queues = 0;
  int rate = 0;
  int seed = 1;
  std::string token;
};

bool Parse(int count, char** arguments, Options& options) {
  const std::map<std::string_view, int*> numbers = {
      {"--port", &options.port},     {"--kinds", &options.kinds}, {"--objects", &options.objects},
      {"--queues", &options.queues}, {"--rate", &options.rate},   {"--seed", &options.seed}};
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i];
    const std::string_view value = arguments[i + 1];
    if (name == "--token") {
      options.token = value;
      continue;
    }
    const auto found = numbers.find(name);
    if (found == numbers.end()) return false;
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), *found->second);
    if (error != std::errc{} || end != value.data() + value.size() || *found->second < 0) {
      return false;
    }
  }
  return count % 2 == 1 && options.kinds > 0;
}

ServedKind KindOf(int number) {
  if (number == 0) return {"s3.aws.upbound.io", "v1beta2", "Bucket", "buckets", false};
  const std::string text = std::to_string(number);
  // One group per fifty kinds, about as providers have them.
  const std::string group = "service" + std::to_string(number / 50) + ".aws.upbound.io";
  return {group, "v1beta1", "Thing" + text, "thing" + text + "s", false};
}

// A managed resource as a provider keeps it, of about 1.5 KB.
std::string ManagedJson(int number, int generation) {
  const std::string name = "bench-" + std::to_string(number);
  return R"({"metadata":{"name":")" + name + R"(","annotations":{"crossplane.io/external-name":")" +
         name +
         R"(-prod","crossplane.io/external-create-succeeded":"2026-11-21T07:52:08Z"},)"
         R"("labels":{"crossplane.io/claim-name":"storage","crossplane.io/claim-namespace":"team-)" +
         std::to_string(number % 50) +
         R"("},"finalizers":["finalizer.managedresource.crossplane.io"],)"
         R"("generation":)" +
         std::to_string(generation) +
         R"(},"spec":{"deletionPolicy":"Delete","forProvider":{"region":"eu-central-1","tags":)"
         R"({"crossplane-kind":"bucket.s3.aws.upbound.io","crossplane-name":")" +
         name + R"(","team":"team-)" + std::to_string(number % 50) +
         R"("}},"initProvider":{},"managementPolicies":["*"],"providerConfigRef":{"name":"default"}},)"
         R"("status":{"atProvider":{"arn":"arn:aws:s3:::)" +
         name + R"(-prod","id":")" + name +
         R"(-prod","region":"eu-central-1"},"conditions":[{"lastTransitionTime":)"
         R"("2026-11-21T07:53:08Z","reason":"Available","status":"True","type":"Ready"},)"
         R"({"lastTransitionTime":"2026-11-21T07:53:08Z","reason":"ReconcileSuccess",)"
         R"("status":"True","type":"Synced"}]}})";
}

const ServedKind kQueues{"sqs.aws.upbound.io", "v1beta1", "Queue", "queues", false};
const ServedKind kConfigs{"aws.upbound.io", "v1beta1", "ProviderConfig", "providerconfigs", false};

std::string QueueJson(int number) {
  const std::string name = "queue-" + std::to_string(number);
  return R"({"metadata":{"name":")" + name +
         R"("},"spec":{"deletionPolicy":"Delete","forProvider":{"region":"eu-central-1","name":")" +
         name +
         R"("},"providerConfigRef":{"name":"prod"}},"status":{"conditions":[{"lastTransitionTime":)"
         R"("2026-11-21T07:53:08Z","reason":"Available","status":"True","type":"Ready"}]}})";
}

std::string ConfigJson(const std::string& account) {
  return R"({"metadata":{"name":"prod"},"spec":{"assumeRoleChain":[{"roleARN":"arn:aws:iam::)" +
         account + R"(:role/crossplane"}]}})";
}

void WriteKubeConfig(const std::filesystem::path& file, const ScriptedApiServer& server,
                     const Options& options) {
  std::ofstream out(file);
  out << "apiVersion: v1\nkind: Config\ncurrent-context: scripted\n"
      << "contexts:\n- name: scripted\n  context: {cluster: scripted, user: scripted}\n"
      << "clusters:\n- name: scripted\n  cluster: {server: \"" << server.url() << "\"}\n"
      << "users:\n- name: scripted\n  user:\n    token: \"" << options.token << "\"\n";
}

// What standard input said within `wait`.
struct Commands {
  bool over = false;  // it ended
  bool relist = false;
  std::optional<int> rate;
  std::string account;
};

Commands Read(std::chrono::milliseconds wait) {
  Commands commands;
  pollfd polled{STDIN_FILENO, POLLIN, 0};
  if (::poll(&polled, 1, static_cast<int>(wait.count())) <= 0) return commands;
  char text[256];
  const ssize_t size = ::read(STDIN_FILENO, text, sizeof(text));
  commands.over = size <= 0;
  std::istringstream lines(std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0));
  for (std::string word; lines >> word;) {
    commands.relist = commands.relist || word == "relist";
    int rate = 0;
    if (word == "rate" && lines >> rate) commands.rate = rate;
    if (word == "account") lines >> commands.account;
  }
  return commands;
}

void Relist(ScriptedApiServer& server) {
  server.Change([](ScriptedApiState& state) {
    state.SetVersion(state.version() + 1);
    state.Compact();
  });
  server.CutConnections();
}

// Changes objects at the rate wanted and tells so, until standard input ends.
void Report(ScriptedApiServer& server, const Options& options) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(options.seed));
  auto begin = steady_clock::now();  // of the rate that holds
  auto told = begin;
  int rate = options.rate;
  std::int64_t changes = 0;
  std::int64_t before = 0;  // changes when it began
  for (;;) {
    const Commands commands = Read(std::chrono::milliseconds(5));
    if (commands.over) return;
    if (commands.relist) Relist(server);
    if (!commands.account.empty()) {
      server.Change(
          [&](ScriptedApiState& state) { state.Put(kConfigs, ConfigJson(commands.account)); });
    }
    const auto now = steady_clock::now();
    if (commands.rate) {
      rate = *commands.rate;
      begin = now;
      before = changes;
    }
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - begin);
    const std::int64_t due = options.objects == 0 ? 0 : before + passed.count() * rate / 1000;
    std::uint64_t version = 0;
    server.Change([&](ScriptedApiState& state) {
      for (; changes < due; ++changes) {
        const int number = static_cast<int>(random() % static_cast<unsigned>(options.objects));
        state.Put(KindOf(number % options.kinds),
                  ManagedJson(number, 2 + static_cast<int>(changes)));
      }
      version = state.version();
    });
    if (now - told < std::chrono::seconds(1)) continue;
    told = now;
    std::printf("{\"version\":%llu,\"changes\":%lld}\n", static_cast<unsigned long long>(version),
                static_cast<long long>(changes));
    std::fflush(stdout);
  }
}

int Run(const Options& options) {
  ScriptedApiOptions served;
  served.port = options.port;
  served.token = options.token;
  served.bookmarks = std::chrono::seconds(10);
  const auto server = ScriptedApiServer::Start(served);
  if (server == nullptr) return 1;
  server->Change([&](ScriptedApiState& state) {
    state.AddKind({"", "v1", "Namespace", "namespaces", false});
    state.Put({"", "v1", "Namespace", "namespaces", false},
              R"({"metadata":{"name":"kube-system"}})");
    state.AddKind({"", "v1", "Event", "events", true});
    for (int kind = 0; kind < options.kinds; ++kind) state.AddKind(KindOf(kind));
    for (int i = 0; i < options.objects; ++i) {
      state.Put(KindOf(i % options.kinds), ManagedJson(i, 1));
    }
    if (options.queues > 0) {
      state.AddKind(kQueues);
      state.AddKind(kConfigs);
    }
    for (int i = 0; i < options.queues; ++i) state.Put(kQueues, QueueJson(i));
    // Watches begin after a list: what was made before needs no memory.
    state.Compact();
  });
  const TemporaryFolder folder;
  const std::filesystem::path kubeconfig = folder.path() / "kubeconfig";
  WriteKubeConfig(kubeconfig, *server, options);
  std::printf("{\"port\":%d,\"url\":\"%s\",\"kubeconfig\":\"%s\"}\n", server->port(),
              server->url().c_str(), kubeconfig.c_str());
  std::fflush(stdout);

  Report(*server, options);
  return 0;
}

}  // namespace
}  // namespace truce

int main(int count, char** arguments) {
  truce::Options options;
  if (!truce::Parse(count, arguments, options)) {
    std::fputs(
        "usage: truce_scripted_api [--port N] [--kinds N] [--objects M] [--queues Q] [--rate R] "
        "[--token T] [--seed S]\n",
        stderr);
    return 2;
  }
  return truce::Run(options);
}
