#include "webhook/kube/request_target.h"

namespace truce {
namespace {

void AddSelector(const Selection& selection, std::string& target) {
  if (selection.field_selector.empty()) return;
  target += "&fieldSelector=" + EncodeSegment(selection.field_selector);
}

}  // namespace

std::string ListTarget(const ListQuery& query) {
  std::string target = PathOf(query.selection.kind, query.selection.ns);
  target += "?limit=" + std::to_string(query.limit);
  // A token carries the version that it began with; both together are refused.
  if (!query.next.empty()) {
    target += "&continue=" + EncodeSegment(query.next);
  } else if (!query.quorum) {
    target += "&resourceVersion=0";
  }
  AddSelector(query.selection, target);
  return target;
}

std::string WatchTarget(const WatchQuery& query) {
  std::string target = PathOf(query.selection.kind, query.selection.ns);
  target += "?watch=1&allowWatchBookmarks=true";
  target += "&resourceVersion=" + EncodeSegment(query.resource_version);
  target += "&timeoutSeconds=" + std::to_string(query.timeout.count());
  AddSelector(query.selection, target);
  return target;
}

std::string_view ListAccept(const Selection& selection) {
  if (!selection.metadata_only) return "application/json";
  return "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
}

std::string_view WatchAccept(const Selection& selection) {
  if (!selection.metadata_only) return "application/json";
  return "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
}

}  // namespace truce
