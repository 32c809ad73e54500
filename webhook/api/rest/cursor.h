// Cursors: where a list goes on, sealed so that only what this server gave comes back.
#ifndef TRUCE_WEBHOOK_API_REST_CURSOR_H_
#define TRUCE_WEBHOOK_API_REST_CURSOR_H_

#include <string>
#include <string_view>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/base/result.h"

namespace truce {

// What cursors are sealed with: at first a key of the process, after whose restart old cursors are
// refused and lists begin again; then one that several servers share, if they do. Thread-safe.
class CursorKey final {
 public:
  CursorKey();

  std::string Get() const {
    return key_.With([](const std::string& key) { return key; });
  }
  void Set(std::string key) {
    key_.With([&](std::string& present) { present = std::move(key); });
  }

 private:
  Guarded<std::string> key_;
};

// Seals and opens cursors. Thread-safe.
class CursorSeal final {
 public:
  // `key` must outlive it.
  explicit CursorSeal(const CursorKey& key) : key_(key) {}

  // `question`: what the list was asked for; a cursor goes on with that question only. `place`: the
  // texts that say where. The result is URL-safe.
  std::string Seal(std::string_view question, const std::vector<std::string>& place) const;
  // Errors: kInvalidArgument: forged, of another question, or sealed with another key.
  Result<std::vector<std::string>> Open(std::string_view question, std::string_view cursor) const;

 private:
  const CursorKey& key_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_CURSOR_H_
