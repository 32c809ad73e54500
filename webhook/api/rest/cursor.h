// Cursors: where a list goes on, sealed so that only what this server gave comes back.
#ifndef TRUCE_WEBHOOK_API_REST_CURSOR_H_
#define TRUCE_WEBHOOK_API_REST_CURSOR_H_

#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"

namespace truce {

// Seals and opens cursors. Thread-safe. The key lives as long as the process: after a restart old
// cursors are refused, and the list begins again.
class CursorSeal final {
 public:
  explicit CursorSeal(std::string key) : key_(std::move(key)) {}

  // `question`: what the list was asked for; a cursor goes on with that question only. `place`: the
  // texts that say where. The result is URL-safe.
  std::string Seal(std::string_view question, const std::vector<std::string>& place) const;
  // Errors: kInvalidArgument: forged, of another question, or of another process.
  Result<std::vector<std::string>> Open(std::string_view question, std::string_view cursor) const;

 private:
  const std::string key_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_CURSOR_H_
