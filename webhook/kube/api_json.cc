#include "webhook/kube/api_json.h"

#include <simdjson.h>

#include <algorithm>
#include <array>

#include "registry/base/result.h"

namespace truce {
namespace {

namespace od = simdjson::ondemand;

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

// The text of a value; empty when it is null or no text.
std::string_view Text(od::value value) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return {};
  return text;
}

int Number(od::value value) {
  std::int64_t number = 0;
  if (value.get_int64().get(number) != simdjson::SUCCESS) return 0;
  return static_cast<int>(std::clamp<std::int64_t>(number, 0, 1'000'000));
}

// Calls `use(key, value)` for each member. False: not an object, or broken JSON.
template <typename Use>
bool EachMember(od::object object, Use&& use) {
  for (auto member : object) {
    std::string_view key;
    od::value value;
    if (member.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (member.value().get(value) != simdjson::SUCCESS) return false;
    if (!use(key, value)) return false;
  }
  return true;
}

template <typename Use>
bool EachMember(od::value value, Use&& use) {
  od::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return false;
  return EachMember(object, std::forward<Use>(use));
}

// Calls `use(element)` for each element. A null is an empty array, as Go writes one.
template <typename Use>
bool EachElement(od::value value, Use&& use) {
  od::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return false;
  if (type == od::json_type::null) return true;
  od::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return false;
  for (auto element : array) {
    od::value item;
    if (element.get(item) != simdjson::SUCCESS) return false;
    if (!use(item)) return false;
  }
  return true;
}

// The object as it was sent, without the white space behind it. Empty: broken.
std::string_view Raw(od::value value) {
  od::object object;
  std::string_view raw;
  if (value.get_object().get(object) != simdjson::SUCCESS) return {};
  if (object.raw_json().get(raw) != simdjson::SUCCESS) return {};
  return raw.substr(0, raw.rfind('}') + 1);
}

// Reads `metadata`'s version and continue token.
bool ReadMetadata(od::value metadata, std::string& version, std::string* next) {
  return EachMember(metadata, [&](std::string_view key, od::value value) {
    if (key == "resourceVersion") version = Text(value);
    if (key == "continue" && next != nullptr) *next = Text(value);
    return true;
  });
}

bool ReadDetails(od::value details, ApiStatus::Details& into) {
  return EachMember(details, [&](std::string_view key, od::value value) {
    if (key == "name") into.name = Text(value);
    if (key == "group") into.group = Text(value);
    if (key == "kind") into.kind = Text(value);
    if (key == "retryAfterSeconds") into.retry_after_seconds = Number(value);
    if (key != "causes") return true;
    return EachElement(value, [&](od::value cause) {
      return EachMember(cause, [&](std::string_view name, od::value text) {
        if (name == "reason" && Text(text) == "ResourceVersionTooLarge") {
          into.version_too_large = true;
        }
        return true;
      });
    });
  });
}

bool ReadStatus(od::object object, ApiStatus& status) {
  bool is_status = false;
  const bool is_whole = EachMember(object, [&](std::string_view key, od::value value) {
    if (key == "kind") is_status = Text(value) == "Status";
    if (key == "code") status.code = Number(value);
    if (key == "reason") status.reason = Text(value);
    if (key == "message") status.message = Text(value);
    if (key == "details") {
      od::json_type type{};
      if (value.type().get(type) == simdjson::SUCCESS && type == od::json_type::object) {
        return ReadDetails(value, status.details);
      }
    }
    return true;
  });
  return is_whole && is_status;
}

std::vector<std::string> ReadTexts(od::value value) {
  std::vector<std::string> texts;
  EachElement(value, [&](od::value text) {
    texts.emplace_back(Text(text));
    return true;
  });
  std::sort(texts.begin(), texts.end());
  return texts;
}

// One resource of a version; its kind is missing while a CRD is half established.
bool ReadKind(od::value resource, std::vector<DiscoveredKind>& kinds) {
  DiscoveredKind found;
  const bool is_whole = EachMember(resource, [&](std::string_view key, od::value value) {
    if (key == "resource") found.kind.plural = Text(value);
    if (key == "scope") found.kind.namespaced = Text(value) == "Namespaced";
    if (key == "verbs") found.verbs = ReadTexts(value);
    if (key != "responseKind") return true;
    return EachMember(value, [&](std::string_view name, od::value text) {
      if (name == "kind") found.kind.kind = Text(text);
      return true;
    });
  });
  if (!is_whole) return false;
  if (!found.kind.kind.empty() && !found.kind.plural.empty()) kinds.push_back(std::move(found));
  return true;
}

// One version of a group. `kinds` gets what none before it serves: preferred versions come first.
bool ReadVersion(od::value value, std::vector<DiscoveredKind>& kinds, bool& is_stale) {
  std::string version;
  std::vector<DiscoveredKind> own;
  const bool is_whole = EachMember(value, [&](std::string_view key, od::value member) {
    if (key == "version") version = Text(member);
    if (key == "freshness") is_stale = is_stale || Text(member) == "Stale";
    if (key != "resources") return true;
    return EachElement(member, [&](od::value resource) { return ReadKind(resource, own); });
  });
  for (DiscoveredKind& kind : own) {
    const bool is_served = std::any_of(kinds.begin(), kinds.end(), [&](const auto& other) {
      return other.kind.plural == kind.kind.plural;
    });
    if (is_served) continue;
    kind.kind.version = version;
    kinds.push_back(std::move(kind));
  }
  return is_whole;
}

// Names are filled in afterwards: members come in any order.
bool ReadGroup(od::value item, Discovery& discovery) {
  std::string group;
  std::vector<DiscoveredKind> kinds;
  bool is_stale = false;
  const bool is_whole = EachMember(item, [&](std::string_view key, od::value value) {
    if (key == "metadata") {
      return EachMember(value, [&](std::string_view name, od::value text) {
        if (name == "name") group = Text(text);
        return true;
      });
    }
    if (key != "versions") return true;
    return EachElement(value,
                       [&](od::value version) { return ReadVersion(version, kinds, is_stale); });
  });
  for (DiscoveredKind& kind : kinds) {
    kind.kind.group = group;
    discovery.kinds.push_back(std::move(kind));
  }
  if (is_stale) discovery.failed_groups.push_back(group);
  return is_whole;
}

}  // namespace

struct ApiJsonReader::Impl {
  od::parser parser;
  od::document document;

  // Whether nothing follows what was read.
  bool AtEnd() { return document.current_location().error() == simdjson::OUT_OF_BOUNDS; }

  // The one object that `text` is.
  simdjson::error_code Root(std::string_view text, od::object& object) {
    const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + kJsonPadding);
    if (const auto error = parser.iterate(padded).get(document)) return error;
    return document.get_object().get(object);
  }
};

ApiJsonReader::ApiJsonReader() : impl_(std::make_unique<Impl>()) {}
ApiJsonReader::~ApiJsonReader() = default;

Result<ListPage> ApiJsonReader::List(std::string_view text) {
  od::object root;
  if (impl_->Root(text, root) != simdjson::SUCCESS)
    return InvalidArgument("a list that is not a JSON object");
  ListPage page;
  bool has_items = false;
  const bool is_whole = EachMember(root, [&](std::string_view key, od::value value) {
    if (key == "metadata") return ReadMetadata(value, page.resource_version, &page.next);
    if (key != "items") return true;
    has_items = true;
    return EachElement(value, [&](od::value item) {
      const std::string_view raw = Raw(item);
      if (!raw.empty()) page.objects.emplace_back(raw);
      return !raw.empty();
    });
  });
  if (!is_whole || !impl_->AtEnd()) return InvalidArgument("a list that is cut off or no JSON");
  if (!has_items) return InvalidArgument("a list without items");
  if (page.resource_version.empty())
    return InvalidArgument("a list without metadata.resourceVersion");
  return page;
}

Result<void> ApiJsonReader::CheckObject(std::string_view text, bool stored) {
  od::object root;
  if (impl_->Root(text, root) != simdjson::SUCCESS) return InvalidArgument("no JSON object");
  std::string version;
  const bool is_whole = EachMember(root, [&](std::string_view key, od::value value) {
    return key != "metadata" || ReadMetadata(value, version, nullptr);
  });
  if (!is_whole || !impl_->AtEnd()) return InvalidArgument("an object that is cut off or no JSON");
  if (stored && version.empty())
    return InvalidArgument("an object without metadata.resourceVersion");
  return {};
}

Result<WatchLine> ApiJsonReader::Watch(std::string_view text) {
  od::object root;
  if (impl_->Root(text, root) != simdjson::SUCCESS)
    return InvalidArgument("an event that is not a JSON object");
  std::string type;
  std::string_view raw;
  const bool is_whole = EachMember(root, [&](std::string_view key, od::value value) {
    if (key == "type") type = Text(value);
    if (key == "object") raw = Raw(value);
    return key != "object" || !raw.empty();
  });
  if (!is_whole || raw.empty() || !impl_->AtEnd()) {
    return InvalidArgument("an event that is cut off or no JSON");
  }
  if (type == "ERROR") {
    const std::optional<ApiStatus> status = Status(raw);
    if (!status) return InvalidArgument("an ERROR event without Status");
    return WatchLine(*status);
  }
  static constexpr std::array<std::pair<std::string_view, WatchEvent::Type>, 4> kTypes = {
      {{"ADDED", WatchEvent::Type::kAdded},
       {"MODIFIED", WatchEvent::Type::kModified},
       {"DELETED", WatchEvent::Type::kDeleted},
       {"BOOKMARK", WatchEvent::Type::kBookmark}}};
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const auto& known) { return known.first == type; });
  if (found == kTypes.end()) return InvalidArgument("an event of unknown type");
  WatchEvent event;
  event.type = found->second;
  od::object object;
  bool is_read = impl_->Root(raw, object) == simdjson::SUCCESS;
  is_read = is_read && EachMember(object, [&](std::string_view key, od::value value) {
              return key != "metadata" || ReadMetadata(value, event.resource_version, nullptr);
            });
  if (!is_read) return InvalidArgument("an event whose object is broken");
  if (event.resource_version.empty()) return InvalidArgument("an event without resourceVersion");
  if (event.type != WatchEvent::Type::kBookmark) event.object = raw;
  return WatchLine(std::move(event));
}

std::optional<ApiStatus> ApiJsonReader::Status(std::string_view text) {
  od::object root;
  if (impl_->Root(text, root) != simdjson::SUCCESS) return std::nullopt;
  ApiStatus status;
  if (!ReadStatus(root, status)) return std::nullopt;
  return status;
}

Result<Discovery> ApiJsonReader::Kinds(std::string_view text) {
  od::object root;
  if (impl_->Root(text, root) != simdjson::SUCCESS)
    return InvalidArgument("discovery that is not a JSON object");
  Discovery discovery;
  std::string kind;
  std::string version;
  const bool is_whole = EachMember(root, [&](std::string_view key, od::value value) {
    if (key == "kind") kind = Text(value);
    if (key == "apiVersion") version = Text(value);
    if (key != "items") return true;
    return EachElement(value, [&](od::value item) { return ReadGroup(item, discovery); });
  });
  if (!is_whole || !impl_->AtEnd()) return InvalidArgument("discovery that is cut off or no JSON");
  if (kind != "APIGroupDiscoveryList" || version != "apidiscovery.k8s.io/v2") {
    return InvalidArgument(
        "the server does not answer discovery by apidiscovery.k8s.io/v2: it is older than "
        "Kubernetes 1.30, or no API server");
  }
  return discovery;
}

}  // namespace truce
