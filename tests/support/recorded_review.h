// Test data: objects of the recorded AdmissionReviews.
#ifndef TRUCE_TESTS_SUPPORT_RECORDED_REVIEW_H_
#define TRUCE_TESTS_SUPPORT_RECORDED_REVIEW_H_

#include <string_view>

#include "registry/base/document.h"

namespace truce {

enum class ReviewPart { kObject, kOldObject };

// One object of the review `name` in tests/golden/admission (without ".json"). Aborts when there is
// no such file.
Document DocumentFromReview(std::string_view name, ReviewPart part);

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_RECORDED_REVIEW_H_
