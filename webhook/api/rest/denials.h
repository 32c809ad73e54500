// Denials: who was refused what, lately. In memory only: they are no part of the registry's truth.
#ifndef TRUCE_WEBHOOK_API_REST_DENIALS_H_
#define TRUCE_WEBHOOK_API_REST_DENIALS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/identity/values.h"
#include "webhook/admission/sink.h"

namespace truce {

// Kept at most; the one seen longest ago gives way.
inline constexpr std::size_t kDenialsKept = 2000;

// Refusals of one resource to one object, counted.
struct Denial {
  KeyText key;           // empty where the rule knows none
  std::string resource;  // for people: S3 bucket "prod-artifacts"
  std::string rule;
  std::string cause;  // as it was told, as far as the disclosure level allowed
  std::string group;
  std::string kind;
  std::string ns;
  std::string name;
  std::string user;  // who asked last
  Timestamp first{};
  Timestamp last{};
  std::uint64_t count = 0;

  bool operator==(const Denial&) const = default;
};

// Collects denied reviews, dry-runs too. Thread-safe.
class DenialBook final : public ReviewSink {
 public:
  explicit DenialBook(const Clock& clock) : clock_(clock) {}

  void OnReview(const ReviewRecord& record) noexcept override;

  // The latest first.
  std::vector<Denial> All() const;
  // Of one resource, the latest first, at most `limit`.
  std::vector<Denial> OfKey(const KeyText& key, std::size_t limit) const;

 private:
  using Id = std::pair<std::string, std::string>;  // key or rule, object
  struct Book {
    std::list<std::pair<Id, Denial>> denials;  // the latest first
    std::map<Id, std::list<std::pair<Id, Denial>>::iterator> places;
  };

  void Note(const ReviewRecord& record);

  const Clock& clock_;
  Guarded<Book> book_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_DENIALS_H_
