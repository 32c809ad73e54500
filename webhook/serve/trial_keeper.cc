#include "webhook/serve/trial_keeper.h"

#include <chrono>
#include <string_view>

namespace truce {
namespace {

constexpr std::chrono::seconds kKeepEvery{60};
constexpr std::chrono::seconds kTrialTime{5};

}  // namespace

void TrialKeeper::Load() {
  const Result<void> loaded = book_.Load(In(kTrialTime));
  if (loaded.ok()) return;
  logger_.Log(LogLevel::kWarning, "trial begins anew",
              {{"message", std::string_view(loaded.error().message)}});
}

void TrialKeeper::Step() {
  if (std::chrono::steady_clock::now() >= due_) Keep();
}

void TrialKeeper::Keep() {
  due_ = In(kKeepEvery);
  const Result<void> kept = book_.Flush(In(kTrialTime));
  if (kept.ok()) return;
  logger_.Log(LogLevel::kWarning, "trial not kept",
              {{"message", std::string_view(kept.error().message)}});
}

}  // namespace truce
