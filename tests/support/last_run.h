// LastRun: assertions inside of decisions and looks, which may run more than once.
#ifndef TRUCE_TESTS_SUPPORT_LAST_RUN_H_
#define TRUCE_TESTS_SUPPORT_LAST_RUN_H_

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>

namespace truce::testing {

// Only the last run of a decision saw all facts: its assertions count, those of the others do not.
class LastRun {
 public:
  // Calls `run`; its assertions stand in place of those of the run before.
  template <typename Run>
  void Of(const Run& run) {
    results_ = std::make_unique<::testing::TestPartResultArray>();
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, results_.get());
    run();
  }

  void Report() const {
    ASSERT_NE(results_, nullptr) << "it never ran";
    for (int i = 0; i < results_->size(); ++i) {
      const ::testing::TestPartResult& result = results_->GetTestPartResult(i);
      if (result.passed()) continue;
      ADD_FAILURE_AT(result.file_name(), result.line_number()) << result.message();
    }
  }

 private:
  std::unique_ptr<::testing::TestPartResultArray> results_;
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_LAST_RUN_H_
