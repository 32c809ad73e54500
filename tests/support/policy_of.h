// The policy that a configuration makes.
#ifndef TRUCE_TESTS_SUPPORT_POLICY_OF_H_
#define TRUCE_TESTS_SUPPORT_POLICY_OF_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "webhook/config/load.h"
#include "webhook/config/policy.h"

namespace truce {

// `text`: a configuration file, with the built-in catalogue.
inline std::shared_ptr<const AdmissionPolicy> PolicyOf(const std::string& text) {
  const std::shared_ptr<const Catalogue> catalogue(std::shared_ptr<void>(), &Catalogue::BuiltIn());
  const auto loaded = LoadConfigFrom({.file = "t.yaml", .flags = {}, .variables = {}}, text);
  EXPECT_TRUE(loaded.ok()) << loaded.error().message;
  auto policy = PolicyFrom(loaded.value().config, catalogue);
  EXPECT_TRUE(policy.ok()) << policy.error().message;
  return policy.value();
}

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_POLICY_OF_H_
