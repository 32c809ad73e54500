// The registry's answer to a check, as JSON text, read.
#ifndef TRUCE_WEBHOOK_CHECK_ANSWER_H_
#define TRUCE_WEBHOOK_CHECK_ANSWER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "registry/identity/identity.h"
#include "webhook/check/report.h"

namespace truce {

struct AnsweredItem {
  bool tells_declarations = false;         // else `declares` says nothing
  bool knows_kind = false;                 // Truce knows the kind, or it declares something
  std::vector<DeclaredResource> declares;  // type, name, key and intent only
  std::vector<CheckFinding> findings;      // without location and object
};

// One per item of the question. Findings about two items of one request are left out: the caller
// compares its whole input. Errors: kUnavailable: not an answer of this version.
Result<std::vector<AnsweredItem>> ReadAnswer(const std::string& text, std::size_t items);

// "clean", "warned" or "refused" in terms of a rule's mode: enforce is an error, audit a note.
CheckSeverity SeverityOf(std::string_view mode);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CHECK_ANSWER_H_
