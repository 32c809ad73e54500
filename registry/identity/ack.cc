#include "registry/identity/ack.h"

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::string_view kAdoptionFields = "services.k8s.aws/adoption-fields";
constexpr std::string_view kReadOnly = "services.k8s.aws/read-only";
constexpr std::string_view kDeletionPolicy = "services.k8s.aws/deletion-policy";
constexpr std::string_view kMetadata = "ackResourceMetadata";

// An object of texts, as the controller reads it: the last of equal keys counts. Nothing: it is
// none.
std::optional<std::map<std::string, std::string>> TextsIn(std::string_view json) {
  const auto object = nlohmann::json::parse(json, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string()) return std::nullopt;
    texts[key] = value.get<std::string>();
  }
  return texts;
}

Document DocumentOf(const std::map<std::string, std::string>& texts) {
  Builder builder;
  builder.Open(Document::Kind::kObject, {});
  for (const auto& [key, text] : texts) {
    const std::string_view name = builder.Own(key);
    builder.Scalar(Document::Kind::kString, name, builder.Own(text));
  }
  builder.Close();
  return builder.Finish();
}

bool HasFinalizer(const ObjectView& view, std::string_view finalizer) {
  if (!view.finalizers.is_array()) return false;
  for (Value at = view.finalizers.first(); at.exists(); at = view.finalizers.next(at)) {
    if (StringOf(at) == finalizer) return true;
  }
  return false;
}

}  // namespace

AckObject::AckObject(Value object, const KindEntry& kind) : spec_(object.Child("spec")) {
  const ObjectView view = ViewObject(object);
  ReadStatus(object.Child("status"), kind);
  if (region_.empty()) region_ = view.Annotation("services.k8s.aws/region");
  ReadAdoption(view);
  is_managed_ = HasFinalizer(view, FinalizerOf(kind.group, kind.kind));
  is_end_untold_ = view.Annotation(kDeletionPolicy) != "delete" ||
                   view.Annotation(kReadOnly) == "true" || (arn_.empty() && id_.empty());
}

void AckObject::ReadStatus(Value status, const KindEntry& kind) {
  const Value metadata = status.Child(kMetadata);
  arn_ = StringOf(metadata.Child("arn"));
  region_ = StringOf(metadata.Child("region"));
  account_ = StringOf(metadata.Child("ownerAccountID"));
  if (!IsAccount(account_)) account_ = AccountOfArn(arn_);
  const std::vector<std::string>& path = kind.type->ack_id;
  if (!path.empty()) id_ = StringOf(status.At(path));
  id_field_ = "status." + Joined(path, ".");
  if (kind.type->Late(kind.flavour)) external_name_ = id_;
  is_id_observed_ = !external_name_.empty();
  std::map<std::string, std::string> shown;
  if (!arn_.empty()) shown.emplace("arn", arn_);
  if (!id_.empty()) shown.emplace("id", id_);
  shown_ = DocumentOf(shown);
}

void AckObject::ReadAdoption(const ObjectView& view) {
  const bool adopts = !view.Annotation("services.k8s.aws/adoption-policy").empty() &&
                      view.Annotation("services.k8s.aws/adopted") != "true";
  const std::string_view fields = view.Annotation(kAdoptionFields);
  if (!adopts || fields.empty()) return;
  const auto texts = TextsIn(fields);
  if (!texts) {
    finding_ = "annotation services.k8s.aws/adoption-fields is no JSON object of texts";
    return;
  }
  adopts_ = true;
  adoption_ = DocumentOf(*texts);
  if (!external_name_.empty()) return;
  const std::size_t dot = id_field_.rfind('.');
  for (const std::string_view name : {std::string_view(id_field_).substr(dot + 1), {"arn"}}) {
    external_name_ = StringOf(adoption_.root().Child(name));
    if (!external_name_.empty()) return;
  }
}

void AckObject::ReadRegion(const PartContext& context, Draft& draft) const {
  // Of a global service it is the region of the controller, which no name has.
  TakeRegion(context.type.region_path.empty() ? std::string_view() : region_,
             "annotation services.k8s.aws/region is not set, and status shows no region yet",
             context, draft);
}

void AckObject::Apply(ObjectView& view) const {
  view.fields = {Section{"spec", spec_}, Section{kAdoptionFields, adoption_.root()}};
  if (adopts_) std::swap(view.fields[0], view.fields[1]);
  view.external_name = external_name_;
  view.external_name_place = id_field_;
  view.at_provider = shown_.root();
}

Intent AckIntentOf(const ObjectView& view) {
  if (view.Annotation(kReadOnly) == "true") return Intent::kObserves;
  const std::string_view policy = view.Annotation(kDeletionPolicy);
  return policy.empty() || policy == "delete" ? Intent::kDeletes : Intent::kManages;
}

std::string AckChangedNameField(Value object, Value old_object, const KindEntry& kind) {
  const std::string metadata(kMetadata);
  for (const std::vector<std::string>& path : {std::vector<std::string>{metadata, "arn"},
                                               {metadata, "ownerAccountID"},
                                               {metadata, "region"},
                                               kind.type->ack_id}) {
    if (path.empty()) continue;
    const Value is = object.Child("status").At(path);
    const Value was = old_object.Child("status").At(path);
    if (is.empty() != was.empty() || (!is.empty() && !is.Equals(was))) {
      return "status." + Joined(path, ".");
    }
  }
  return {};
}

}  // namespace truce
