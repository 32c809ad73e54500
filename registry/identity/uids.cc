#include "registry/identity/uids.h"

#include <cstddef>
#include <string>

namespace truce {

Uid UidIn(std::string_view cluster, std::string_view metadata_uid) {
  Uid uid;
  if (metadata_uid.empty()) return uid;
  uid.text.reserve(cluster.size() + 1 + metadata_uid.size());
  if (!cluster.empty()) uid.text.append(cluster).append(1, '/');
  uid.text.append(metadata_uid);
  return uid;
}

std::string_view MetadataUid(const Uid& uid) {
  const std::size_t slash = uid.text.find('/');
  return std::string_view(uid.text).substr(slash == std::string::npos ? 0 : slash + 1);
}

}  // namespace truce
