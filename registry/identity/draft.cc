#include "registry/identity/draft.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "registry/catalogue/normalise.h"
#include "registry/identity/characters.h"
#include "registry/identity/encoding.h"
#include "registry/identity/evidence.h"

namespace truce {
namespace {

const std::string* FindPart(const ResourceIdentity& identity, std::string_view name) {
  for (const auto& [part, value] : identity.parts) {
    if (part == name) return &value;
  }
  return nullptr;
}

// The value of a placeholder of an ARN template; nothing when it is not known.
std::optional<std::string_view> Placeholder(const ResourceIdentity& identity,
                                            std::string_view name) {
  std::string_view value;
  if (name == "partition") {
    value = identity.partition;
  } else if (name == "region") {
    value = identity.region;
  } else if (name == "account") {
    if (IsAccount(identity.account)) value = identity.account;
  } else if (const std::string* part = FindPart(identity, name); part != nullptr) {
    value = *part;
  }
  if (value.empty()) return std::nullopt;
  return value;
}

std::string ArnOf(const ResourceIdentity& identity, std::string_view arn_template) {
  std::string arn;
  std::string_view rest = arn_template;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    arn.append(rest.substr(0, open));
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find('}', open);
    if (close == std::string_view::npos) return {};
    const std::optional<std::string_view> value =
        Placeholder(identity, rest.substr(open + 1, close - open - 1));
    if (!value.has_value()) return {};
    arn.append(*value);
    rest.remove_prefix(close + 1);
  }
  return arn;
}

// What people call the value: as they wrote it, unless normalising changed more than its case.
std::string_view ForReaders(const Element& element) {
  return element.shown.size() == element.value.size() ? element.shown : element.value;
}

class Assembly {
 public:
  Assembly(const Draft& draft, std::vector<DeclaredResource>& resources)
      : draft_(draft), resources_(resources), chosen_(draft.parts.size(), 0) {}

  // One resource per combination; the last part turns fastest.
  void AppendAll(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      AppendOne();
      for (std::size_t part = chosen_.size(); part-- > 0;) {
        if (++chosen_[part] < draft_.parts[part].elements.size()) break;
        chosen_[part] = 0;
      }
    }
  }

  // The resource of which not all is known yet; only parts with a single value are.
  void AppendUnknown() {
    DeclaredResource& resource = Start();
    for (const Reading& reading : draft_.parts) {
      if (reading.elements.size() == 1) AddPart(resource, reading, reading.elements.front());
      if (!reading.missing.empty()) resource.missing.push_back(reading.missing);
      if (reading.reference.has_value()) resource.references.push_back(*reading.reference);
    }
    Finish(resource);
  }

 private:
  DeclaredResource& Start() {
    DeclaredResource& resource = resources_.emplace_back();
    resource.identity = draft_.place;
    resource.identity.parts.reserve(draft_.parts.size() + draft_.extra.size());
    resource.missing = draft_.missing;
    resource.intent = draft_.intent;
    resource.sure = draft_.type->certainty == Certainty::kResearched;
    resource.late = draft_.late;
    resource.mapped = draft_.mapped;
    return resource;
  }

  static void AddPart(DeclaredResource& resource, const Reading& reading, const Element& element) {
    resource.identity.parts.emplace_back(reading.part->name, element.value);
    const std::string_view shown = ForReaders(element);
    if (shown.empty() || reading.part->source == KeyPart::Source::kConstant) return;
    if (!resource.name.empty()) resource.name.push_back('/');
    resource.name.append(shown);
  }

  void AppendOne() {
    DeclaredResource& resource = Start();
    for (std::size_t i = 0; i < draft_.parts.size(); ++i) {
      AddPart(resource, draft_.parts[i], draft_.parts[i].elements[chosen_[i]]);
    }
    Finish(resource);
    if (!draft_.missing.empty()) return;
    if (std::optional<KeyText> key = KeyOf(resource.identity, *draft_.type)) {
      resource.key = std::move(*key);
    }
  }

  void Finish(DeclaredResource& resource) const {
    for (const Reading& reading : draft_.extra) {
      if (reading.elements.size() != 1) continue;
      const Element& element = reading.elements.front();
      resource.identity.parts.emplace_back(reading.part->name, element.value);
      if (resource.name.empty()) resource.name = ForReaders(element);
    }
    if (!resource.name.empty() && !Presentable(resource.name)) {
      resource.name = Printable(resource.name);
    }
    resource.arn = ArnOf(resource.identity, draft_.type->arn_template);
    resource.partial = draft_.mapped && !resource.missing.empty();
  }

  const Draft& draft_;
  std::vector<DeclaredResource>& resources_;
  std::vector<std::size_t> chosen_;  // index of an element per part
};

}  // namespace

void AppendResources(const Draft& draft, std::vector<DeclaredResource>& resources,
                     std::vector<BadName>& bad_names) {
  std::size_t count = 1;
  bool unknown = false;
  const Reading* longest = nullptr;
  for (const Reading& reading : draft.parts) {
    // Each factor is at most kResourcesMax + 1, and the product is cut there: no overflow.
    count = std::min(count * reading.elements.size(), kResourcesMax + 1);
    unknown = unknown || !reading.missing.empty();
    if (longest == nullptr || reading.elements.size() > longest->elements.size()) {
      longest = &reading;
    }
  }
  Assembly assembly(draft, resources);
  if (count > kResourcesMax) {
    std::string reason = "declares more than " + std::to_string(kResourcesMax) + " resources";
    assembly.AppendUnknown();
    resources.back().missing.push_back(longest->part->name + " " + reason);
    bad_names.push_back({draft.type->name, longest->part->name,
                         Printable(longest->elements.front().shown) + ", ...", std::move(reason)});
    return;
  }
  assembly.AppendAll(count);
  if (unknown) assembly.AppendUnknown();
}

std::optional<KeyText> KeyOf(const ResourceIdentity& identity, const TypeSpec& spec) {
  const bool has_account = spec.KeyHasAccount();
  const bool has_region = spec.KeyHasRegion();
  if (identity.partition.empty()) return std::nullopt;
  if (has_account && identity.account.empty()) return std::nullopt;
  if (has_region && identity.region.empty()) return std::nullopt;
  KeyText key;
  std::string& text = key.text;
  text.reserve(128);
  AppendEncoded(text, spec.space);
  text.push_back('|');
  AppendEncoded(text, identity.partition);
  text.push_back('|');
  if (has_account) AppendAccount(text, identity.account);
  text.push_back('|');
  if (has_region) AppendEncoded(text, identity.region);
  for (const KeyPart& part : spec.parts) {
    const std::string* value = FindPart(identity, part.name);
    if (value == nullptr) return std::nullopt;
    AppendPart(text, part.name, *value);
  }
  return key;
}

void Resolve(DeclaredResource& resource, const Reference& reference, std::string_view value,
             const TypeSpec& spec) {
  const auto same = [&reference](const Reference& other) { return other == reference; };
  const auto at = std::find_if(resource.references.begin(), resource.references.end(), same);
  const auto part = std::find_if(spec.parts.begin(), spec.parts.end(), [&](const KeyPart& other) {
    return other.name == reference.part;
  });
  if (at == resource.references.end() || part == spec.parts.end() || value.empty()) return;
  std::erase_if(resource.missing,
                [&](const std::string& text) { return text.starts_with(reference.path + " "); });
  resource.references.erase(at);
  resource.identity.parts.emplace_back(part->name, Normalise(part->normalisers, value));
  if (!resource.name.empty()) resource.name.push_back('/');
  resource.name.append(value);
  if (resource.missing.empty()) {
    if (std::optional<KeyText> key = KeyOf(resource.identity, spec)) resource.key = std::move(*key);
  }
  resource.arn = ArnOf(resource.identity, spec.arn_template);
}

std::optional<KeyText> ParentKeyOf(const ResourceIdentity& identity, const TypeSpec& spec,
                                   const Catalogue& catalogue) {
  if (!spec.attachment.has_value() || spec.attachment->links.empty()) return std::nullopt;
  const TypeSpec* parent = catalogue.FindType(spec.attachment->parent);
  if (parent == nullptr) return std::nullopt;
  ResourceIdentity owner{parent->name, identity.partition, identity.account, identity.region, {}};
  for (const Attachment::Link& link : spec.attachment->links) {
    const std::string* value = FindPart(identity, link.own_part);
    if (value == nullptr) return std::nullopt;
    owner.parts.emplace_back(link.parent_part, Normalise(link.normalisers, *value));
  }
  return KeyOf(owner, *parent);
}

}  // namespace truce
