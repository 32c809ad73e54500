// Denials: who was refused what, lately. In memory only: they are no part of the registry's truth.
#ifndef TRUCE_WEBHOOK_API_REST_DENIALS_H_
#define TRUCE_WEBHOOK_API_REST_DENIALS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policies/review_record.h"
#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/identity/values.h"

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

  void OnReview(const ReviewRecord& record) override;

  // The latest first.
  std::vector<Denial> All() const;
  // Of one resource, the latest first, at most `limit`.
  std::vector<Denial> OfKey(const KeyText& key, std::size_t limit) const;

 private:
  struct Entry {
    std::string id;  // key or rule, and object
    Denial denial;
  };
  using Entries = std::list<Entry>;
  struct Book {
    Entries entries;                                                 // the latest first
    std::unordered_map<std::string_view, Entries::iterator> places;  // by the entry's own id
  };

  // The refusal's entry, first in the book, with one more counted. Its times are the caller's.
  static Denial& Enter(const std::string& id, const ReviewRecord& record, const Finding& finding,
                       Book& book);

  const Clock& clock_;
  Guarded<Book> book_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_DENIALS_H_
