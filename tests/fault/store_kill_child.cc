// Writes to a store until it is killed. Says on standard output what it is about to end and what is
// done: "created NAME", "ending NAME", "ended NAME", one line each, in one write(2).
//
//   store_kill_child DIR FIRST_NAME
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "registry/ownership/rows.h"
#include "registry/store/sqlite/log_look.h"
#include "registry/store/sqlite/sqlite_store.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace {

constexpr int kCallers = 4;

void Say(const std::string& what, const std::string& name) {
  const std::string line = what + " " + name + "\n";
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) std::_Exit(3);
}

void End(Store& store, const std::string& name) {
  Say("ending", name);
  if (!Write(store, SampleEnd(name, name)).ok()) std::_Exit(4);
  Say("ended", name);
}

void CreateOnce(Store& store, long number) {
  const std::string name = std::to_string(number);
  if (!Write(store, SampleNamedCreate(name, name)).ok()) std::_Exit(5);
  Say("created", name);
}

void CreateForEver(Store& store, std::atomic<long>& next) {
  while (true) {
    const long number = next++;
    CreateOnce(store, number);
    if (number % 5 == 0) End(store, std::to_string(number));
  }
}

int Run(const std::string& folder, long first_name) {
  SqliteOptions options;
  options.data_dir = folder;
  options.full_check = false;
  options.checkpoint_bytes = 100'000;  // so that kills hit checkpoints and restarts of the log too
  auto opened = SqliteStore::Open(options);
  if (!opened.ok()) {
    std::fprintf(stderr, "%s\n", opened.error().message.c_str());
    return 2;
  }
  // Now and then its log is marked: as a server's, and as that of an older one.
  if (first_name % 2'000'000 == 0) {
    CreateOnce(*opened.value(), first_name - 1);
    if (!MarkLog(folder).ok()) return 3;
  }
  std::atomic<long> next = first_name;
  std::vector<std::jthread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] { CreateForEver(*opened.value(), next); });
  }
  return 0;
}

}  // namespace
}  // namespace truce::testing

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  return truce::testing::Run(argv[1], std::strtol(argv[2], nullptr, 10));
}
