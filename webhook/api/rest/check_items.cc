#include "webhook/api/rest/check_items.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "webhook/api/rest/call.h"
#include "webhook/wire/json_reader.h"

namespace truce {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kItemsMax = 500;
constexpr std::string_view kCheckedUid = "truce-check";
constexpr int kItemDepth = 3;  // body > items > item
// Members of metadata that are not taken from the manifest.
constexpr std::array<std::string_view, 4> kOurs = {"uid", "namespace", "managedFields",
                                                   "ownerReferences"};

std::string PlaceOf(std::size_t index) { return "items[" + std::to_string(index) + "]"; }

// The member of that name; of several the first, as Value::Child has it.
dom::element MemberOf(dom::object object, std::string_view name, bool& found) {
  dom::element value;
  found = object.at_key(name).get(value) == simdjson::SUCCESS;
  return value;
}

// The member `name` when it is a text; empty otherwise.
std::string TextOf(dom::object object, std::string_view name) {
  bool found = false;
  const dom::element value = MemberOf(object, name, found);
  std::string_view text;
  if (!found || value.get_string().get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

bool IsClusterScoped(const GroupKind& kind, const Catalogue& catalogue) {
  const KindEntry* entry = catalogue.FindKind(kind.group, kind.kind);
  return entry != nullptr && entry->flavour != Flavour::kUpjetNamespaced;
}

Result<CheckItem> ItemOf(dom::object object, const std::string& place) {
  CheckItem item;
  const std::string api_version = TextOf(object, "apiVersion");
  item.kind.kind = TextOf(object, "kind");
  if (api_version.empty() || item.kind.kind.empty())
    return InvalidArgument(place + " lacks apiVersion or kind");
  const std::size_t slash = api_version.find('/');
  item.kind.group = slash == std::string::npos ? std::string() : api_version.substr(0, slash);
  bool found = false;
  const dom::element value = MemberOf(object, "metadata", found);
  dom::object metadata;
  if (!found || value.get_object().get(metadata) != simdjson::SUCCESS)
    return InvalidArgument(place + " lacks metadata");
  item.name = TextOf(metadata, "name");
  if (item.name.empty()) return InvalidArgument(place + " lacks metadata.name");
  item.ns = TextOf(metadata, "namespace");
  return item;
}

Error TooDeep() {
  return InvalidArgument("the body nests deeper than " + std::to_string(kBodyDepthMax));
}

Error NotRead(simdjson::error_code code) {
  if (code == simdjson::DEPTH_ERROR) return TooDeep();
  if (code == simdjson::MEMALLOC) return Error{ErrorCode::kResourceExhausted, "out of memory"};
  return InvalidArgument(std::string("the body is not JSON: ") + simdjson::error_message(code));
}

}  // namespace

struct CheckItems::Impl {
  dom::parser parser;
  std::vector<dom::element> objects;
  std::vector<CheckItem> items;
  // Of the item asked for last.
  std::string uid;
  Document document;

  Result<void> ReadBody(dom::object body, std::string& default_ns) {
    bool has_items = false;
    for (const auto field : body) {
      if (field.key == "items") {
        dom::array list;
        if (has_items || field.value.get_array().get(list) != simdjson::SUCCESS)
          return InvalidArgument("\"items\" must be one list");
        has_items = true;
        TRUCE_RETURN_IF_ERROR(ReadItems(list));
      } else if (field.key == "namespace") {
        std::string_view text;
        if (field.value.get_string().get(text) != simdjson::SUCCESS)
          return InvalidArgument("\"namespace\" is not a text");
        default_ns = text;
      } else {
        return InvalidArgument("the body has a member other than \"items\" and \"namespace\"");
      }
    }
    if (!has_items) return InvalidArgument("\"items\" is missing");
    return {};
  }

  Result<void> ReadItems(dom::array list) {
    for (const dom::element element : list) {
      if (items.size() == kItemsMax) return InvalidArgument("more than 500 items");
      const std::string place = PlaceOf(items.size());
      dom::object object;
      if (element.get_object().get(object) != simdjson::SUCCESS)
        return InvalidArgument(place + " is not an object");
      TRUCE_ASSIGN_OR_RETURN(CheckItem item, ItemOf(object, place));
      objects.push_back(element);
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
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  // One above the limit: the parser counts otherwise, and the walk says it exactly.
  const auto made = impl->parser.allocate(std::max<std::size_t>(body.size(), 1), kBodyDepthMax + 1);
  if (made != simdjson::SUCCESS) return NotRead(made);
  dom::element root;
  const auto code = impl->parser.parse(body.data(), body.size(), false).get(root);
  if (code != simdjson::SUCCESS) return NotRead(code);
  dom::object object;
  if (root.get_object().get(object) != simdjson::SUCCESS)
    return InvalidArgument("the body is not a JSON object");
  std::string default_ns;
  TRUCE_RETURN_IF_ERROR(impl->ReadBody(object, default_ns));
  for (CheckItem& item : impl->items) {
    if (item.ns.empty() && !IsClusterScoped(item.kind, catalogue)) item.ns = default_ns;
  }
  return CheckItems(std::move(impl));
}

std::size_t CheckItems::size() const { return impl_->items.size(); }

const CheckItem& CheckItems::operator[](std::size_t index) const { return impl_->items[index]; }

Result<AskedObject> CheckItems::Asked(std::size_t index, std::string_view user) {
  const CheckItem& item = impl_->items[index];
  impl_->uid = std::string(kCheckedUid) + "-" + std::to_string(index);
  const std::array<std::pair<std::string_view, std::string_view>, 2> added = {
      {{"uid", impl_->uid}, {"namespace", item.ns}}};
  TreeWalk walk({.depth_max = kBodyDepthMax,
                 .metadata_depth = kItemDepth + 1,
                 .left_out = kOurs,
                 .added = std::span(added).first(item.ns.empty() ? 1 : 2)});
  Builder builder(std::move(impl_->document));
  if (!walk.Read(impl_->objects[index], kItemDepth, &builder)) {
    Error error = walk.twice() ? InvalidArgument("a key appears twice in one object") : TooDeep();
    return std::move(error).Within(PlaceOf(index));
  }
  impl_->document = builder.Finish();
  return AskedObject{.review = impl_->uid,
                     .group = item.kind.group,
                     .kind = item.kind.kind,
                     .ns = item.ns,
                     .user = user,
                     .object = impl_->document.root()};
}

}  // namespace truce
