#include "webhook/serve/registry_memory.h"

#include <sys/stat.h>

#include <fstream>
#include <string_view>
#include <utility>

#include "registry/base/file.h"
#include "webhook/wire/json_reader.h"

namespace truce {
namespace {

constexpr std::string_view kAnnotation = "truce.dev/registry";

ServedKind Lease() { return {"coordination.k8s.io", "v1", "Lease", "leases", true}; }

std::string MarkFile(const std::string& data_dir) { return data_dir + "/registry.mark"; }

std::string AnnotationJson(const StoreMark& mark) {
  // Base32 characters, a space and digits: nothing to escape.
  return R"({"annotations":{")" + std::string(kAnnotation) + R"(":")" + ToText(mark) + R"("})";
}

}  // namespace

std::optional<StoreMark> ReadMarkFile(const std::string& data_dir) {
  std::ifstream file(MarkFile(data_dir));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return StoreMarkFromText(line);
}

Result<void> WriteMarkFile(const std::string& data_dir, const StoreMark& mark) {
  return ReplaceFile(MarkFile(data_dir), ToText(mark) + "\n", S_IRUSR | S_IWUSR);
}

ApiResult<std::optional<StoreMark>> LeaseMemory::Read(Deadline deadline) {
  const ApiResult<std::string> lease = api_.Get(Lease(), ns_, name_, deadline);
  if (!lease.ok()) {
    if (lease.error().kind == ApiErrorKind::kNoSuchObject) return std::optional<StoreMark>();
    return lease.error();
  }
  JsonReader reader;
  const Result<Document> document = reader.Read(lease.value());
  if (!document.ok()) {
    return ApiError{ApiErrorKind::kMalformed, 200, document.error().message, std::nullopt};
  }
  const Value annotations = document.value().root().Child("metadata").Child("annotations");
  return StoreMarkFromText(annotations.Child(kAnnotation).text());
}

std::optional<ApiError> LeaseMemory::Write(const StoreMark& mark, Deadline deadline) {
  const std::string patch = R"({"metadata":)" + AnnotationJson(mark) + "}}";
  const ApiResult<std::string> patched = api_.Patch({Lease(), ns_, name_, ""}, patch, deadline);
  if (patched.ok()) return std::nullopt;
  if (patched.error().kind != ApiErrorKind::kNoSuchObject) return patched.error();
  const std::string lease = R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":)" +
                            AnnotationJson(mark) + R"(,"name":")" + name_ + R"("}})";
  const ApiResult<std::string> created = api_.Create(Lease(), ns_, lease, deadline);
  if (created.ok()) return std::nullopt;
  return created.error();
}

}  // namespace truce
