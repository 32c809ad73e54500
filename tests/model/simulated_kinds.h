// The kinds that the simulator's API server serves, and the times it runs by.
#ifndef TRUCE_TESTS_MODEL_SIMULATED_KINDS_H_
#define TRUCE_TESTS_MODEL_SIMULATED_KINDS_H_

#include <chrono>

#include "registry/identity/identity.h"

namespace truce {

inline const GroupKind kBucketKind{"s3.aws.upbound.io", "Bucket"};
inline const GroupKind kOwnBucketKind{"s3.aws.m.upbound.io", "Bucket"};
// Its key needs the account, which the one ProviderConfig or its own ARN tells.
inline const GroupKind kTableKind{"dynamodb.aws.upbound.io", "Table"};
inline const GroupKind kConfigKind{"aws.upbound.io", "ProviderConfig"};
inline constexpr const char* kAccountNumber = "111122223333";
inline const GroupKind kDefinitionKind{"apiextensions.k8s.io", "CustomResourceDefinition"};
inline const GroupKind kXrdKind{"apiextensions.crossplane.io", "CompositeResourceDefinition"};
inline const GroupKind kCompositeKind{"acme.example.org", "XStorage"};
inline const GroupKind kClaimKind{"acme.example.org", "Storage"};
inline constexpr std::chrono::seconds kTtl{180};

}  // namespace truce

#endif  // TRUCE_TESTS_MODEL_SIMULATED_KINDS_H_
