#include "registry/identity/ack.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "registry/base/fingerprint.h"
#include "registry/base/text.h"
#include "registry/identity/text_names.h"

namespace truce {
namespace {

constexpr std::string_view kPrefix = "services.k8s.aws/";
constexpr std::string_view kAdoptionFields = "services.k8s.aws/adoption-fields";
constexpr std::string_view kReadOnly = "services.k8s.aws/read-only";
constexpr std::string_view kDeletionPolicy = "services.k8s.aws/deletion-policy";
constexpr std::string_view kDeletes = "delete";
constexpr std::size_t kServicesMax = 500;  // more than AWS has
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

// "s3" of "s3.services.k8s.aws"; empty where the text is of no service.
std::string ServiceIn(std::string_view group) {
  const std::string_view service = TakeUntil(group, '.');
  const bool is_service = group.starts_with(kPrefix.substr(0, kPrefix.size() - 1)) &&
                          !service.empty() && std::all_of(service.begin(), service.end(), IsAlnum);
  return is_service ? std::string(service) : std::string();
}

}  // namespace

AckNamespace ReadAckNamespace(Value object) {
  AckNamespace said;
  const ObjectView view = ViewObject(object);
  if (view.name.starts_with("kube-") || !view.annotations.is_object()) return said;
  std::map<std::string_view, std::string_view> all;  // in one order, however they are written
  for (Value at = view.annotations.first(); at.exists(); at = view.annotations.next(at)) {
    const std::string_view key = at.key();
    const std::size_t prefix = key.find(kPrefix);
    if (prefix == std::string_view::npos || (prefix > 0 && key[prefix - 1] != '.')) continue;
    all[key] = StringOf(at);
    const std::string service = prefix == 0 ? std::string() : ServiceIn(key);
    if (service.empty() || !key.ends_with(kDeletionPolicy)) continue;
    std::set<std::string>& same =
        StringOf(at) == kDeletes ? said.defaults.deletes : said.defaults.retains;
    if (same.size() < kServicesMax) same.insert(service);
  }
  const std::string_view account = all["services.k8s.aws/owner-account-id"];
  if (IsAccount(account)) said.account = account;
  const std::string_view region = all["services.k8s.aws/default-region"];
  if (IsRegion(region)) said.defaults.region = region;
  Fingerprint digest;
  bool is_any = false;
  for (const auto& [key, text] : all) {
    if (text.empty()) continue;
    is_any = true;
    digest.Add(key);
    digest.Add(text);
  }
  if (is_any) said.fields = HexOf(digest.value());
  return said;
}

AckObject::AckObject(Value object, const KindEntry& kind, const ConfigDefaults* defaults)
    : spec_(object.Child("spec")) {
  static const ConfigDefaults kNone;
  if (defaults == nullptr) defaults = &kNone;
  const ObjectView view = ViewObject(object);
  ReadStatus(object.Child("status"), kind);
  if (region_.empty()) region_ = view.Annotation("services.k8s.aws/region");
  if (region_.empty()) region_ = defaults->region;
  ReadAdoption(view);
  is_managed_ = HasFinalizer(view, FinalizerOf(kind.group, kind.kind));
  ReadPolicy(view, kind.group, *defaults);
}

void AckObject::ApplyCreation(ObjectView& view) const {
  view.fields = {Section{"spec", spec_}, Section{}};
  view.external_name = {};
  view.at_provider = {};
}

void AckObject::ReadPolicy(const ObjectView& view, std::string_view group,
                           const ConfigDefaults& defaults) {
  const bool reads = view.Annotation(kReadOnly) == "true";
  const std::string_view policy = view.Annotation(kDeletionPolicy);
  const std::string service = ServiceIn(group);
  const bool by_config = !view.annotations.Child(kDeletionPolicy).exists();
  const bool keeps =
      policy.empty() ? by_config && defaults.retains.contains(service) : policy != kDeletes;
  intent_ = reads ? Intent::kObserves : keeps ? Intent::kManages : Intent::kDeletes;
  const bool says = by_config ? defaults.deletes.contains(service) : policy == kDeletes;
  is_end_unknown_ = !says || reads || (arn_.empty() && id_.empty());
  is_end_by_config_ = !is_end_unknown_ && by_config;
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
  const std::string_view policy = view.Annotation("services.k8s.aws/adoption-policy");
  const bool adopts = !policy.empty() && view.Annotation("services.k8s.aws/adopted") != "true";
  const std::string_view fields = view.Annotation(kAdoptionFields);
  if (!adopts || fields.empty()) return;
  const auto texts = TextsIn(fields);
  if (!texts) {
    finding_ = "annotation services.k8s.aws/adoption-fields is no JSON object of texts";
    return;
  }
  adopts_ = true;
  may_create_ = policy == "adopt-or-create";
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
             "neither annotation services.k8s.aws/region nor the namespace's default-region is "
             "set, and status shows no region yet",
             context, draft);
}

void AckObject::Apply(ObjectView& view) const {
  view.fields = {Section{"spec", spec_}, Section{kAdoptionFields, adoption_.root()}};
  if (adopts_) std::swap(view.fields[0], view.fields[1]);
  view.external_name = external_name_;
  view.external_name_place = id_field_;
  view.at_provider = shown_.root();
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
