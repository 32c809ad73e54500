// Where in a repository the input of a check lies.
#ifndef TRUCE_WEBHOOK_CHECK_REPOSITORY_H_
#define TRUCE_WEBHOOK_CHECK_REPOSITORY_H_

#include <string>

#include "webhook/check/report.h"

namespace truce {

// `location` as a review of a change shows it: a file's path in the repository, with line and
// column; of what Helm rendered the template that its comment names, without, as its lines are
// others. No file: the input came through a pipe, or lies elsewhere. `prefix`: the path in the
// repository that paths of the input begin below; empty: where the check runs.
CheckLocation InRepository(const CheckLocation& location, const std::string& prefix);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CHECK_REPOSITORY_H_
