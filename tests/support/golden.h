// Texts that were reviewed once and must not change unseen.
#ifndef TRUCE_TESTS_SUPPORT_GOLDEN_H_
#define TRUCE_TESTS_SUPPORT_GOLDEN_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace truce {

// Fails the test unless tests/golden/`file` holds exactly `text`. TRUCE_UPDATE_GOLDEN=1 writes it
// anew instead.
inline void ExpectGolden(const std::string& file, const std::string& text) {
  const std::string path = std::string(TRUCE_SOURCE_DIR) + "/tests/golden/" + file;
  if (std::getenv("TRUCE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream stored(path);
  ASSERT_TRUE(stored.is_open()) << path;
  std::stringstream content;
  content << stored.rdbuf();
  EXPECT_EQ(text, content.str()) << path;
}

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_GOLDEN_H_
