#include "webhook/watch/recovery/registry_memory.h"

#include <sys/stat.h>

#include <fstream>
#include <string_view>
#include <utility>

#include "registry/base/file.h"
#include "webhook/wire/json_reader.h"

namespace truce {
namespace {

constexpr std::string_view kMarkAnnotation = "truce.dev/registry";
constexpr std::string_view kWitnessAnnotation = "truce.dev/witness";

ServedKind Lease() { return {"coordination.k8s.io", "v1", "Lease", "leases", true}; }

std::string MarkFile(const std::string& data_dir) { return data_dir + "/registry.mark"; }

std::string WitnessFile(const std::string& data_dir) { return data_dir + "/registry.witness"; }

// The first line; nothing: there is none.
std::optional<std::string> LineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

}  // namespace

std::optional<StoreMark> ReadMarkFile(const std::string& data_dir) {
  return StoreMarkFromText(LineOf(MarkFile(data_dir)).value_or(""));
}

Result<void> WriteMarkFile(const std::string& data_dir, const StoreMark& mark) {
  return ReplaceFile(MarkFile(data_dir), ToText(mark) + "\n", S_IRUSR | S_IWUSR);
}

std::optional<AuditWitness> ReadWitnessFile(const std::string& data_dir) {
  return AuditWitnessFromText(LineOf(WitnessFile(data_dir)).value_or(""));
}

Result<void> WriteWitnessFile(const std::string& data_dir, const AuditWitness& witness) {
  return ReplaceFile(WitnessFile(data_dir), ToText(witness) + "\n", S_IRUSR | S_IWUSR);
}

std::vector<LeaseNotes::Other> LeaseMemory::Others(Deadline deadline) {
  ListQuery query;
  query.selection.kind = Lease();
  // By name: so far goes the right that the chart gives.
  query.selection.field_selector = "metadata.name=" + name_;
  query.limit = 0;
  const ApiResult<ListPage> page = api_.List(query, deadline);
  std::vector<LeaseNotes::Other> out;
  if (!page.ok()) return out;
  JsonReader reader;
  for (const std::string& object : page.value().objects) {
    const Result<Document> document = reader.Read(object);
    if (!document.ok()) continue;
    const Value metadata = document.value().root().Child("metadata");
    std::string ns(metadata.Child("namespace").text());
    const auto mark =
        StoreMarkFromText(metadata.Child("annotations").Child(kMarkAnnotation).text());
    if (mark && ns != ns_) out.push_back({std::move(ns), *mark});
  }
  return out;
}

ApiResult<LeaseNotes> LeaseMemory::Read(Deadline deadline) {
  const ApiResult<std::string> lease = api_.Get(Lease(), ns_, name_, deadline);
  if (!lease.ok()) {
    if (lease.error().kind == ApiErrorKind::kNoSuchObject)
      return LeaseNotes{{}, {}, Others(deadline)};
    return lease.error();
  }
  JsonReader reader;
  const Result<Document> document = reader.Read(lease.value());
  if (!document.ok()) {
    return ApiError{ApiErrorKind::kMalformed, 200, document.error().message, std::nullopt};
  }
  const Value annotations = document.value().root().Child("metadata").Child("annotations");
  return LeaseNotes{StoreMarkFromText(annotations.Child(kMarkAnnotation).text()),
                    AuditWitnessFromText(annotations.Child(kWitnessAnnotation).text()),
                    Others(deadline)};
}

std::optional<ApiError> LeaseMemory::Write(const StoreMark& mark, Deadline deadline) {
  return Annotate(kMarkAnnotation, ToText(mark), deadline);
}

std::optional<ApiError> LeaseMemory::WriteWitness(const AuditWitness& witness, Deadline deadline) {
  return Annotate(kWitnessAnnotation, ToText(witness), deadline);
}

std::optional<ApiError> LeaseMemory::Annotate(std::string_view annotation, const std::string& value,
                                              Deadline deadline) {
  // Base32 characters, spaces, digits and dashes: nothing to escape.
  const std::string json =
      R"({"annotations":{")" + std::string(annotation) + R"(":")" + value + R"("})";
  const std::string patch = R"({"metadata":)" + json + "}}";
  const ApiResult<std::string> patched = api_.Patch({Lease(), ns_, name_, ""}, patch, deadline);
  if (patched.ok()) return std::nullopt;
  if (patched.error().kind != ApiErrorKind::kNoSuchObject) return patched.error();
  const std::string lease = R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":)" +
                            json + R"(,"name":")" + name_ + R"("}})";
  const ApiResult<std::string> created = api_.Create(Lease(), ns_, lease, deadline);
  if (created.ok()) return std::nullopt;
  return created.error();
}

}  // namespace truce
