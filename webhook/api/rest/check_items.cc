#include "webhook/api/rest/check_items.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "webhook/wire/json_scan.h"

namespace truce {
namespace {

constexpr std::size_t kItemsMax = 500;
constexpr std::string_view kCheckedUid = "truce-check";
// Members of metadata that are not taken from the manifest.
constexpr std::array<std::string_view, 4> kOurs = {"uid", "namespace", "managedFields",
                                                   "ownerReferences"};

std::string PlaceOf(std::size_t index) { return "items[" + std::to_string(index) + "]"; }

// The member `name` when it is a text; empty otherwise.
std::string TextOf(Value object, std::string_view name) {
  const Value value = object.Child(name);
  return value.is_string() ? std::string(value.text()) : std::string();
}

bool IsClusterScoped(const GroupKind& kind, const Catalogue& catalogue) {
  const KindEntry* entry = catalogue.FindKind(kind.group, kind.kind);
  return entry != nullptr && !SpecOf(entry->flavour).namespaced;
}

Result<CheckItem> ItemOf(Value object, const std::string& place) {
  CheckItem item;
  const std::string api_version = TextOf(object, "apiVersion");
  item.kind.kind = TextOf(object, "kind");
  if (api_version.empty() || item.kind.kind.empty())
    return InvalidArgument(place + " lacks apiVersion or kind");
  const std::size_t slash = api_version.find('/');
  item.kind.group = slash == std::string::npos ? std::string() : api_version.substr(0, slash);
  const Value metadata = object.Child("metadata");
  if (!metadata.is_object()) return InvalidArgument(place + " lacks metadata");
  item.name = TextOf(metadata, "name");
  if (item.name.empty()) return InvalidArgument(place + " lacks metadata.name");
  item.ns = TextOf(metadata, "namespace");
  return item;
}

Error NotRead(const JsonScan& scan) {
  if (scan.fault() != JsonScan::Fault::kKeyTwice) return InvalidArgument("the body is not JSON");
  return InvalidArgument("a key appears twice in one object");
}

// Adds the item's metadata as the API server would have it of an object of ours.
void AddMetadata(Value metadata, const std::string& uid, const std::string& ns, Builder& builder) {
  builder.Open(Document::Kind::kObject, metadata.key());
  for (Value at = metadata.first(); at.exists(); at = metadata.next(at)) {
    if (std::find(kOurs.begin(), kOurs.end(), at.key()) == kOurs.end()) builder.Add(at);
  }
  builder.Scalar(Document::Kind::kString, "uid", uid);
  if (!ns.empty()) builder.Scalar(Document::Kind::kString, "namespace", ns);
  builder.Close();
}

}  // namespace

struct CheckItems::Impl {
  Document body;
  std::vector<Value> objects;
  std::vector<CheckItem> items;
  // Of the item asked for last.
  std::string uid;
  Document document;

  Result<void> ReadBody(std::string& default_ns) {
    const Value root = body.root();
    if (!root.is_object()) return InvalidArgument("the body is not a JSON object");
    for (Value field = root.first(); field.exists(); field = root.next(field)) {
      if (field.key() == "items") {
        if (!field.is_array()) return InvalidArgument("\"items\" must be one list");
        TRUCE_RETURN_IF_ERROR(ReadItems(field));
      } else if (field.key() == "namespace") {
        if (!field.is_string()) return InvalidArgument("\"namespace\" is not a text");
        default_ns = field.text();
      } else {
        return InvalidArgument("the body has a member other than \"items\" and \"namespace\"");
      }
    }
    if (!root.Child("items").exists()) return InvalidArgument("\"items\" is missing");
    return {};
  }

  Result<void> ReadItems(Value list) {
    for (Value object = list.first(); object.exists(); object = list.next(object)) {
      if (items.size() == kItemsMax) return InvalidArgument("more than 500 items");
      const std::string place = PlaceOf(items.size());
      if (!object.is_object()) return InvalidArgument(place + " is not an object");
      TRUCE_ASSIGN_OR_RETURN(CheckItem item, ItemOf(object, place));
      objects.push_back(object);
      items.push_back(std::move(item));
    }
    return {};
  }
};

CheckItems::CheckItems(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CheckItems::~CheckItems() = default;
CheckItems::CheckItems(CheckItems&&) noexcept = default;
CheckItems& CheckItems::operator=(CheckItems&&) noexcept = default;

Result<CheckItems> CheckItems::Read(std::string& body, const Catalogue& catalogue) {
  auto impl = std::make_unique<Impl>();
  body.reserve(body.size() + kScanPadding);
  JsonScan scan(JsonScan::Keys::kOnce);
  Builder builder;
  if (!scan.Read(body, {}, builder)) return NotRead(scan);
  impl->body = builder.Finish();
  std::string default_ns;
  TRUCE_RETURN_IF_ERROR(impl->ReadBody(default_ns));
  for (CheckItem& item : impl->items) {
    if (item.ns.empty() && !IsClusterScoped(item.kind, catalogue)) item.ns = default_ns;
  }
  return CheckItems(std::move(impl));
}

std::size_t CheckItems::size() const { return impl_->items.size(); }

const CheckItem& CheckItems::operator[](std::size_t index) const { return impl_->items[index]; }

AskedObject CheckItems::Asked(std::size_t index, std::string_view user) {
  const CheckItem& item = impl_->items[index];
  impl_->uid = std::string(kCheckedUid) + "-" + std::to_string(index);
  Builder builder(std::move(impl_->document));
  builder.Open(Document::Kind::kObject, {});
  const Value object = impl_->objects[index];
  for (Value at = object.first(); at.exists(); at = object.next(at)) {
    if (at.key() == "metadata") {
      AddMetadata(at, impl_->uid, item.ns, builder);
    } else {
      builder.Add(at);
    }
  }
  builder.Close();
  impl_->document = builder.Finish();
  return AskedObject{.review = impl_->uid,
                     .group = item.kind.group,
                     .kind = item.kind.kind,
                     .ns = item.ns,
                     .user = user,
                     .object = impl_->document.root()};
}

}  // namespace truce
