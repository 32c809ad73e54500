// Uids of objects as the registry knows them: "cluster/metadata.uid". Two clusters that came from
// one copy of etcd have objects with the same metadata.uid.
#ifndef TRUCE_REGISTRY_IDENTITY_UIDS_H_
#define TRUCE_REGISTRY_IDENTITY_UIDS_H_

#include <string_view>

#include "registry/identity/values.h"

namespace truce {

// The object that `cluster` has under this metadata.uid; empty where Kubernetes names none, and
// without prefix where there is no cluster (manifests, before they are in one).
Uid UidIn(std::string_view cluster, std::string_view metadata_uid);
// Its metadata.uid, for people and for Kubernetes. A view of `uid`.
std::string_view MetadataUid(const Uid& uid);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_UIDS_H_
