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

bool IsTrue(od::value value) {
  bool flag = false;
  return value.get_bool().get(flag) == simdjson::SUCCESS && flag;
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

// One resource of an APIGroupDiscovery. Its kind is missing while a CRD is half established.
bool ReadAggregatedKind(od::value resource, const std::string& group, const std::string& version,
                        std::vector<DiscoveredKind>& kinds) {
  DiscoveredKind found;
  found.kind.group = group;
  found.kind.version = version;
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

bool ReadAggregatedVersion(od::value value, const std::string& group,
                           DiscoveredGroup::Version& version) {
  // "resources" may come before "version": names are filled in afterwards.
  const bool is_whole = EachMember(value, [&](std::string_view key, od::value member) {
    if (key == "version") version.name = Text(member);
    if (key == "freshness") version.stale = Text(member) == "Stale";
    if (key != "resources") return true;
    return EachElement(member, [&](od::value resource) {
      return ReadAggregatedKind(resource, group, {}, version.kinds);
    });
  });
  for (DiscoveredKind& kind : version.kinds) kind.kind.version = version.name;
  return is_whole;
}

bool ReadAggregatedGroup(od::value item, DiscoveredGroup& group) {
  const bool is_whole = EachMember(item, [&](std::string_view key, od::value value) {
    if (key == "metadata") {
      return EachMember(value, [&](std::string_view name, od::value text) {
        if (name == "name") group.name = Text(text);
        return true;
      });
    }
    if (key != "versions") return true;
    return EachElement(value, [&](od::value version) {
      return ReadAggregatedVersion(version, {}, group.versions.emplace_back());
    });
  });
  for (DiscoveredGroup::Version& version : group.versions) {
    for (DiscoveredKind& kind : version.kinds) kind.kind.group = group.name;
  }
  return is_whole;
}

// An entry of APIGroupList: versions are listed in order of preference, but for the preferred one.
bool ReadPlainGroup(od::value item, DiscoveredGroup& group) {
  std::string preferred;
  const bool is_whole = EachMember(item, [&](std::string_view key, od::value value) {
    if (key == "name") group.name = Text(value);
    const auto read_version = [](od::value version, std::string& name) {
      return EachMember(version, [&](std::string_view member, od::value text) {
        if (member == "version") name = Text(text);
        return true;
      });
    };
    if (key == "preferredVersion") return read_version(value, preferred);
    if (key != "versions") return true;
    return EachElement(value, [&](od::value version) {
      return read_version(version, group.versions.emplace_back().name);
    });
  });
  std::stable_partition(group.versions.begin(), group.versions.end(),
                        [&](const DiscoveredGroup::Version& v) { return v.name == preferred; });
  return is_whole;
}

bool ReadCoreVersions(od::value versions, DiscoveryAnswer& answer) {
  DiscoveredGroup& core = answer.groups.emplace_back();
  return EachElement(versions, [&](od::value version) {
    core.versions.emplace_back().name = Text(version);
    return true;
  });
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

Result<DiscoveryAnswer> ApiJsonReader::Groups(std::string_view text) {
  od::object root;
  if (impl_->Root(text, root) != simdjson::SUCCESS)
    return InvalidArgument("discovery that is not a JSON object");
  DiscoveryAnswer answer;
  std::string kind;
  const bool is_whole = EachMember(root, [&](std::string_view key, od::value value) {
    if (key == "kind") kind = Text(value);
    if (key == "versions") return ReadCoreVersions(value, answer);
    if (key == "items") {
      return EachElement(value, [&](od::value item) {
        return ReadAggregatedGroup(item, answer.groups.emplace_back());
      });
    }
    if (key != "groups") return true;
    return EachElement(value, [&](od::value group) {
      return ReadPlainGroup(group, answer.groups.emplace_back());
    });
  });
  answer.aggregated = kind == "APIGroupDiscoveryList";
  const bool is_known = answer.aggregated || kind == "APIGroupList" || kind == "APIVersions";
  if (!is_whole || !is_known || !impl_->AtEnd()) {
    return InvalidArgument("discovery that is cut off or not as promised");
  }
  return answer;
}

Result<std::vector<DiscoveredKind>> ApiJsonReader::Resources(std::string_view text,
                                                             std::string_view group,
                                                             std::string_view version) {
  od::object root;
  if (impl_->Root(text, root) != simdjson::SUCCESS)
    return InvalidArgument("discovery that is not a JSON object");
  std::vector<DiscoveredKind> kinds;
  bool is_list = false;
  const bool is_whole = EachMember(root, [&](std::string_view key, od::value value) {
    if (key == "kind") is_list = Text(value) == "APIResourceList";
    if (key != "resources") return true;
    return EachElement(value, [&](od::value resource) {
      DiscoveredKind found;
      found.kind.group = group;
      found.kind.version = version;
      const bool is_read = EachMember(resource, [&](std::string_view name, od::value member) {
        if (name == "name") found.kind.plural = Text(member);
        if (name == "kind") found.kind.kind = Text(member);
        if (name == "namespaced") found.kind.namespaced = IsTrue(member);
        if (name == "verbs") found.verbs = ReadTexts(member);
        return true;
      });
      // "buckets/status" is no kind of its own.
      const bool is_own = found.kind.plural.find('/') == std::string::npos;
      if (is_read && is_own) kinds.push_back(std::move(found));
      return is_read;
    });
  });
  if (!is_whole || !is_list || !impl_->AtEnd()) {
    return InvalidArgument("discovery that is cut off or not as promised");
  }
  return kinds;
}

}  // namespace truce
