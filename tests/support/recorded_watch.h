// Test data: watch streams recorded from a real API server and a real provider
// (tests/support/recordings; without managedFields and other fields that nobody reads).
#ifndef TRUCE_TESTS_SUPPORT_RECORDED_WATCH_H_
#define TRUCE_TESTS_SUPPORT_RECORDED_WATCH_H_

#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"

namespace truce {

struct RecordedLine {
  Timestamp received{};
  std::string type;    // ADDED, MODIFIED, DELETED
  std::string object;  // JSON
};

// All lines of recordings/`name`.jsonl, in order. Aborts when there is no such file.
std::vector<RecordedLine> RecordedWatch(std::string_view name);

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_RECORDED_WATCH_H_
