// Reviews with a memory: each question reaches the API server at most once a minute.
#ifndef TRUCE_WEBHOOK_API_AUTH_CACHED_REVIEWS_H_
#define TRUCE_WEBHOOK_API_AUTH_CACHED_REVIEWS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "registry/base/guarded.h"
#include "registry/base/turnstile.h"
#include "webhook/api/auth/reviews.h"
#include "webhook/wire/digest.h"

namespace truce {

// How long an answer is believed: a revoked token or permission ends after at most that time, a new
// permission works after at most the shorter one.
inline constexpr std::chrono::seconds kYesIsBelieved{60};
inline constexpr std::chrono::seconds kNoIsBelieved{10};
// Answers kept; the one that ends first gives way.
inline constexpr std::size_t kAnswersKept = 4096;
// Questions on their way to the API server at once; beyond that the answer is kResourceExhausted,
// so that a flood of bad tokens does not become one of reviews.
inline constexpr int kQuestionsAtOnce = 8;
// Of those as many for one asker: a stranger who shows one random token after the other, or asks
// about one namespace after the other, leaves places to everybody else.
inline constexpr int kQuestionsOfOneAtOnce = 3;

// The monotonic clock, or a test's.
using MonotonicNow = std::function<Deadline()>;

// Answers by the digest of their question: neither tokens nor users are kept in clear. Thread-safe.
template <typename Answer>
class AnswerMemory final {
 public:
  std::optional<Answer> Find(const Digest& question, Deadline now) const {
    return kept_.With([&](const Kept& kept) -> std::optional<Answer> {
      const auto found = kept.find(question);
      if (found == kept.end() || found->second.until <= now) return std::nullopt;
      return found->second.answer;
    });
  }

  void Keep(const Digest& question, Answer answer, Deadline now, Deadline until) {
    kept_.With([&](Kept& kept) {
      if (kept.size() >= kAnswersKept && kept.find(question) == kept.end()) MakeRoom(kept, now);
      kept.insert_or_assign(question, Entry{std::move(answer), until});
    });
  }

 private:
  struct Entry {
    Answer answer;
    Deadline until;
  };
  using Kept = std::map<Digest, Entry>;

  static void MakeRoom(Kept& kept, Deadline now) {
    std::erase_if(kept, [&](const auto& each) { return each.second.until <= now; });
    // All are young: half of them go, so that the next thousands need no pass.
    bool odd = false;
    if (kept.size() >= kAnswersKept) {
      std::erase_if(kept, [&](const auto&) { return odd = !odd; });
    }
  }

  Guarded<Kept> kept_;
};

// Errors are not kept: the next caller asks again. One source, of IPv6 addresses their first 64
// bits, has kQuestionsOfOneAtOnce questions on their way, and so has one user of the other class.
class CachedTokenReviewer final : public TokenReviewer {
 public:
  CachedTokenReviewer(TokenReviewer& source, MonotonicNow now)
      : source_(source), now_(std::move(now)) {}
  Result<std::optional<KubernetesUser>> FindUser(const std::string& token,
                                                 const std::string& source,
                                                 Deadline deadline) override;

 private:
  TokenReviewer& source_;
  MonotonicNow now_;
  Turnstile turnstile_{kQuestionsAtOnce, kQuestionsOfOneAtOnce};
  AnswerMemory<std::optional<KubernetesUser>> memory_;
};

class CachedAccessReviewer final : public AccessReviewer {
 public:
  CachedAccessReviewer(AccessReviewer& source, MonotonicNow now)
      : source_(source), now_(std::move(now)) {}
  Result<bool> Allowed(const KubernetesUser& user, const Permission& permission,
                       Deadline deadline) override;

 private:
  AccessReviewer& source_;
  MonotonicNow now_;
  Turnstile turnstile_{kQuestionsAtOnce, kQuestionsOfOneAtOnce};
  AnswerMemory<bool> memory_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_AUTH_CACHED_REVIEWS_H_
