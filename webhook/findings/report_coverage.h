// The report `truce coverage`, for people.
#ifndef TRUCE_WEBHOOK_FINDINGS_REPORT_COVERAGE_H_
#define TRUCE_WEBHOOK_FINDINGS_REPORT_COVERAGE_H_

#include <string>

#include "webhook/findings/coverage.h"

namespace truce {

// How much is protected, then a line per gap. Not `all`: gaps that concern no object at present are
// only counted.
std::string CoverageText(const CoverageReport& report, bool all);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_REPORT_COVERAGE_H_
