// kubectl's reading of a scalar without quotes: YAML 1.1 as go-yaml v2 reads it, turned into JSON.
#ifndef TRUCE_WEBHOOK_CHECK_PLAIN_SCALAR_H_
#define TRUCE_WEBHOOK_CHECK_PLAIN_SCALAR_H_

#include <string_view>

#include "registry/base/document.h"

namespace truce {

struct PlainReading {
  Document::Kind kind = Document::Kind::kString;  // kubectl's: null, bool, number or string
  // Whether kubectl's value, written as JSON, is the same text: `true` and 12 are, `no` (false),
  // 0123 (83) and 1.10 (1.1) are not. Null counts as the same.
  bool as_written = true;
};

PlainReading ReadPlain(std::string_view text);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CHECK_PLAIN_SCALAR_H_
