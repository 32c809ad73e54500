// Cursors: where a list goes on, sealed so that only what this server gave comes back.
#ifndef TRUCE_WEBHOOK_API_REST_CURSOR_H_
#define TRUCE_WEBHOOK_API_REST_CURSOR_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "webhook/api/rest/call.h"

namespace truce {

// The key that seals cursors: at first a key of the process, after whose restart old cursors are
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

  // The cursor with which the list that `call` asks for goes on: with the same path and parameters,
  // but for `limit` and how it is shown. `place`: the texts that say where. It is URL-safe.
  std::string Seal(const RestCall& call, const std::vector<std::string>& place) const;
  // The place, of `texts` texts, that the call's cursor is of; nothing: it has none.
  // Errors: kInvalidArgument: forged, of another list, or sealed with another key.
  Result<std::optional<std::vector<std::string>>> Open(const RestCall& call,
                                                       std::size_t texts) const;

 private:
  const CursorKey& key_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_CURSOR_H_
