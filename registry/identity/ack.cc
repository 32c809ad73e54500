#include "registry/identity/ack.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::string_view kAdoptionFields = "services.k8s.aws/adoption-fields";
constexpr std::string_view kReadOnly = "services.k8s.aws/read-only";
constexpr std::string_view kDeletionPolicy = "services.k8s.aws/deletion-policy";
constexpr std::string_view kMetadata = "ackResourceMetadata";

// Reads a JSON object of texts, as the controller does: the last of equal keys counts.
class TextsReader final {
 public:
  explicit TextsReader(std::string_view json) : rest_(json) {}

  std::optional<std::map<std::string, std::string>> Read() {
    std::map<std::string, std::string> texts;
    if (!Take('{')) return std::nullopt;
    if (Take('}')) return IsAtEnd() ? std::optional(texts) : std::nullopt;
    do {
      std::optional<std::string> key = ReadText();
      if (!key || !Take(':')) return std::nullopt;
      std::optional<std::string> value = ReadText();
      if (!value) return std::nullopt;
      texts[*std::move(key)] = *std::move(value);
    } while (Take(','));
    return Take('}') && IsAtEnd() ? std::optional(texts) : std::nullopt;
  }

 private:
  void SkipBlanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }

  bool Take(char mark) {
    SkipBlanks();
    if (!rest_.starts_with(mark)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool IsAtEnd() {
    SkipBlanks();
    return rest_.empty();
  }

  std::optional<std::string> ReadText() {
    if (!Take('"')) return std::nullopt;
    std::string text;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return text;
      if (c != '\\') {
        text.push_back(c);
      } else if (!ReadEscape(text)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  bool ReadEscape(std::string& text) {
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == 'u') return ReadCode(text);
    const std::size_t at = kEscapes.find(c);
    if (at == std::string_view::npos) return false;
    text.push_back(kMeant[at]);
    return true;
  }

  // No name in AWS has characters that take two escapes.
  bool ReadCode(std::string& text) {
    constexpr std::size_t kDigits = 4;
    std::uint32_t code = 0;
    if (rest_.size() < kDigits) return false;
    const char* const end = rest_.data() + kDigits;
    const auto [at, error] = std::from_chars(rest_.data(), end, code, 16);
    if (error != std::errc() || at != end || (code >= 0xD800 && code <= 0xDFFF)) return false;
    rest_.remove_prefix(kDigits);
    if (code < 0x80) {
      text.push_back(static_cast<char>(code));
    } else if (code < 0x800) {
      text.push_back(static_cast<char>(0xC0U | (code >> 6U)));
      text.push_back(static_cast<char>(0x80U | (code & 0x3FU)));
    } else {
      text.push_back(static_cast<char>(0xE0U | (code >> 12U)));
      text.push_back(static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)));
      text.push_back(static_cast<char>(0x80U | (code & 0x3FU)));
    }
    return true;
  }

  std::string_view rest_;
};

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
  const auto texts = TextsReader(fields).Read();
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
