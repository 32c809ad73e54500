#include "registry/identity/status_fields.h"

#include <array>

namespace truce {
namespace {

struct NameField {
  std::string_view path;  // for people
  std::string_view name;  // below status.atProvider
};

// Of every type alike: evidence.cc (OwnArn).
constexpr std::array<NameField, 1> kNameFields = {{{"status.atProvider.arn", "arn"}}};

}  // namespace

std::string_view ChangedNameField(Value object, Value old_object, const KindEntry& /*kind*/) {
  const Value present = object.Child("status").Child("atProvider");
  const Value before = old_object.Child("status").Child("atProvider");
  for (const NameField& field : kNameFields) {
    const Value is = present.Child(field.name);
    const Value was = before.Child(field.name);
    if (is.empty() != was.empty() || (!is.empty() && !is.Equals(was))) return field.path;
  }
  return {};
}

}  // namespace truce
