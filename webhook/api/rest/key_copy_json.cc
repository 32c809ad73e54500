#include "webhook/api/rest/key_copy_json.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "registry/base/random_id.h"
#include "registry/base/text.h"
#include "registry/identity/uids.h"
#include "registry/ownership/lineage.h"
#include "webhook/api/rest/call.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kCopyTextBytesMax = 4096;

void Say(JsonWriter& json, std::string_view name, std::string_view value) {
  if (!value.empty()) json.Field(name, value);
}
void Say(JsonWriter& json, std::string_view name, bool value) {
  if (value) json.Field(name, true);
}
void SayTime(JsonWriter& json, std::string_view name, Timestamp time) {
  json.NumberField(name, time.time_since_epoch().count());
}

void WriteOwner(const Owner& owner, JsonWriter& json) {
  json.Key("owner").BeginObject().Field("id", owner.id.text).Field("root", ToText(owner.root));
  Say(json, "service", owner.service);
  Say(json, "contact", owner.contact);
  Say(json, "arn", owner.arn);
  Say(json, "name", owner.name);
  json.Field("identity", ToText(owner.identity));
  SayTime(json, "since", owner.since);
  Say(json, "real", owner.real);
  Say(json, "managedOnce", owner.managed_once);
  if (!owner.left.empty()) {
    std::vector<std::string> left;
    for (const Slot& slot : owner.left) left.push_back(ToText(slot));
    json.TextsField("left", left);
  }
  if (owner.record != Record::kNone) json.Field("record", Name(owner.record));
  Say(json, "reason", owner.record_reason);
  Say(json, "successor", owner.successor);
  json.EndObject();
}

void WriteRow(const Row& row, JsonWriter& json) {
  json.BeginObject()
      .Field("uid", row.id.uid.text)
      .Field("state", Name(row.id.state))
      .Field("slot", ToText(row.slot))
      .Field("root", ToText(row.root))
      .Field("intent", Name(row.intent))
      .Field("identity", ToText(row.identity));
  Say(json, "terminating", row.terminating);
  Say(json, "mapped", !row.managed);
  Say(json, "review", row.review.text);
  Say(json, "digest", row.digest);
  if (row.base) json.Field("base", std::to_string(*row.base));
  Say(json, "user", row.user);
  SayTime(json, "at", row.at);
  if (row.created) SayTime(json, "created", *row.created);
  Say(json, "accountFields", row.account_fields);
  json.EndObject();
}

void WriteKnownObject(const Object& object, JsonWriter& json) {
  json.BeginObject()
      .Field("uid", object.uid.text)
      .Field("slot", ToText(object.slot))
      .Field("root", ToText(object.root));
  if (object.parent) json.Field("parent", ToText(*object.parent));
  Say(json, "parentUid", object.parent_uid.text);
  Say(json, "link", object.link);
  if (!object.names.empty()) json.TextsField("names", object.names);
  Say(json, "service", object.service);
  Say(json, "contact", object.contact);
  Say(json, "composes", object.composes);
  Say(json, "ownParty", object.own_party);
  Say(json, "transferTo", object.transfer_to);
  Say(json, "told", object.told);
  if (object.stripped) json.Field("stripped", std::to_string(*object.stripped));
  SayTime(json, "at", object.at);
  json.EndObject();
}

void WriteAgreed(const Agreement& agreement, JsonWriter& json) {
  json.BeginObject().Field("id", agreement.id.text).Field("kind", Name(agreement.kind));
  Say(json, "party", agreement.party.text);
  json.Field("level", Name(agreement.level));
  Say(json, "open", !agreement.accepted);
  Say(json, "successor", agreement.successor);
  Say(json, "reason", agreement.reason);
  Say(json, "by", agreement.actor);
  SayTime(json, "at", agreement.at);
  if (agreement.until) SayTime(json, "until", *agreement.until);
  json.EndObject();
}

void WriteFurtherName(const ResourceName& name, JsonWriter& json) {
  json.BeginObject().Field("name", name.name.text).Field("sort", Name(name.sort));
  Say(json, "observed", name.observed);
  SayTime(json, "at", name.at);
  json.EndObject();
}

// Reads the members of one object; keeps the first fault.
class Members {
 public:
  Members(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json_.is_object()) Fail(" is not an object");
  }

  std::string Text(const char* name, bool is_needed = false) {
    const Json* value = Find(name, is_needed);
    if (value == nullptr) return {};
    if (!value->is_string() || !IsLine(value->get_ref<const std::string&>(), kCopyTextBytesMax)) {
      Fail("." + std::string(name) + " is not a line of text");
      return {};
    }
    return value->get<std::string>();
  }

  // A text of any length and many lines.
  std::string LongText(const char* name) {
    const Json* value = Find(name, false);
    if (value == nullptr) return {};
    if (!value->is_string() || !IsUtf8(value->get_ref<const std::string&>())) {
      Fail("." + std::string(name) + " is not text");
      return {};
    }
    return value->get<std::string>();
  }

  bool Flag(const char* name) {
    const Json* value = Find(name, false);
    if (value == nullptr) return false;
    if (!value->is_boolean()) Fail("." + std::string(name) + " is neither true nor false");
    return value->is_boolean() && value->get<bool>();
  }

  std::optional<Timestamp> OptionalTime(const char* name, bool is_needed = false) {
    const Json* value = Find(name, is_needed);
    if (value == nullptr) return std::nullopt;
    const bool fits = value->is_number_integer() &&
                      (!value->is_number_unsigned() || value->get<std::uint64_t>() <= kEndOfTime) &&
                      value->get<std::int64_t>() >= 0;
    if (!fits) Fail("." + std::string(name) + " is not a time in milliseconds");
    return fits ? std::optional(Timestamp(std::chrono::milliseconds(value->get<std::int64_t>())))
                : std::nullopt;
  }
  Timestamp Time(const char* name) { return OptionalTime(name, true).value_or(Timestamp{}); }

  // What `read` makes of a text; a fault when it makes nothing of it.
  template <typename Read>
  auto As(const char* name, Read read) {
    auto value = read(Text(name, true));
    if (!value) Fail("." + std::string(name) + " cannot be read");
    return std::move(value).value_or(typename decltype(value)::value_type{});
  }

  std::vector<std::string> Texts(const char* name) {
    std::vector<std::string> texts;
    Each(name, [&](const Json& value, const std::string& place) {
      if (value.is_string() && IsLine(value.get_ref<const std::string&>(), kCopyTextBytesMax)) {
        texts.push_back(value.get<std::string>());
      } else if (fault_.empty()) {
        fault_ = place + " is not a line of text";
      }
    });
    return texts;
  }

  // Calls `visit` with each element of a list and its place.
  template <typename Visit>
  void Each(const char* name, Visit visit) {
    const Json* list = Find(name, false);
    if (list == nullptr) return;
    if (!list->is_array()) return Fail("." + std::string(name) + " is not a list");
    for (std::size_t i = 0; i < list->size(); ++i) {
      visit((*list)[i], place_ + "." + name + "[" + std::to_string(i) + "]");
    }
  }

  // Takes over the fault of something inside.
  void Join(const std::string& fault) {
    if (fault_.empty()) fault_ = fault;
  }
  void Fail(const std::string& what) { Join(place_ + what); }

  const Json* Find(const char* name, bool is_needed) {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(name);
    if (found != json_.end()) {
      ++read_;
      return &*found;
    }
    if (is_needed) Fail(" has no ." + std::string(name));
    return nullptr;
  }

  // The first fault; a member that nobody asked for is one as well. Each member is asked for once.
  const std::string& fault() {
    if (json_.is_object() && read_ < json_.size()) {
      Fail(" has an unknown member; /openapi.yaml lists what it takes");
    }
    return fault_;
  }

 private:
  const Json& json_;
  const std::string place_;
  std::string fault_;
  std::size_t read_ = 0;
};

PublicId ReadId(Members& members) {
  PublicId id{members.Text("id", true)};
  if (!IsId(id.text)) members.Fail(".id is not an id");
  return id;
}

Owner ReadOwner(const Json& json, const KeyText& key, const std::string& place,
                std::string& fault) {
  Members members(json, place);
  Owner owner;
  owner.key = key;
  owner.id = ReadId(members);
  owner.root = members.As("root", SlotFromText);
  owner.service = members.Text("service");
  owner.contact = members.Text("contact");
  owner.arn = members.Text("arn");
  owner.name = members.Text("name");
  owner.identity = members.As("identity", IdentityFromText);
  owner.since = members.Time("since");
  owner.real = members.Flag("real");
  owner.managed_once = members.Flag("managedOnce");
  for (const std::string& text : members.Texts("left")) {
    if (auto slot = SlotFromText(text)) {
      owner.left.push_back(*std::move(slot));
    } else {
      members.Fail(".left cannot be read");
    }
  }
  if (owner.left.size() > kLeftMax) members.Fail(".left has too many slots");
  const std::string record = members.Text("record");
  const auto known = record.empty() ? Record::kNone : RecordFromName(record);
  if (!known) members.Fail(".record is none of orphaned, imported, transferring");
  owner.record = known.value_or(Record::kNone);
  owner.record_reason = members.Text("reason");
  owner.successor = members.Text("successor");
  fault = members.fault();
  return owner;
}

std::optional<std::uint64_t> NumberOf(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Row ReadRow(const Json& json, const KeyText& key, const std::string& place, std::string& fault) {
  Members members(json, place);
  Row row;
  row.id = {key, {members.Text("uid", true)}, members.As("state", RowStateFromName)};
  row.slot = members.As("slot", SlotFromText);
  row.id.uid = InCluster(row.slot.cluster, row.id.uid);
  row.root = members.As("root", SlotFromText);
  row.intent = members.As("intent", IntentFromName);
  row.identity = members.As("identity", IdentityFromText);
  row.terminating = members.Flag("terminating");
  row.managed = !members.Flag("mapped");
  row.review = {members.Text("review")};
  row.digest = members.LongText("digest");
  if (const std::string base = members.Text("base"); !base.empty()) {
    row.base = NumberOf(base);
    if (!row.base) members.Fail(".base is not a number");
  }
  row.user = members.Text("user");
  row.at = members.Time("at");
  row.created = members.OptionalTime("created");
  row.account_fields = members.Text("accountFields");
  fault = members.fault();
  return row;
}

Object ReadObject(const Json& json, const std::string& place, std::string& fault) {
  Members members(json, place);
  Object object;
  object.uid = {members.Text("uid", true)};
  object.slot = members.As("slot", SlotFromText);
  object.root = members.As("root", SlotFromText);
  if (const Json* parent = members.Find("parent", false)) {
    object.parent = parent->is_string() ? SlotFromText(parent->get<std::string>()) : std::nullopt;
    if (!object.parent) members.Fail(".parent cannot be read");
  }
  object.uid = InCluster(object.slot.cluster, object.uid);
  object.parent_uid = InCluster(object.slot.cluster, {members.Text("parentUid")});
  object.link = LinkInCluster(object.slot.cluster, members.Text("link"));
  object.names = members.Texts("names");
  object.service = members.Text("service");
  object.contact = members.Text("contact");
  object.composes = members.Flag("composes");
  object.own_party = members.Flag("ownParty");
  object.transfer_to = members.Text("transferTo");
  object.told = members.Text("told");
  if (const std::string stripped = members.Text("stripped"); !stripped.empty()) {
    object.stripped = NumberOf(stripped);
    if (!object.stripped) members.Fail(".stripped is not a resourceVersion");
  }
  object.at = members.Time("at");
  fault = members.fault();
  return object;
}

Agreement ReadAgreement(const Json& json, const KeyText& key, const std::string& place,
                        std::string& fault) {
  Members members(json, place);
  Agreement agreement;
  agreement.key = key;
  agreement.id = ReadId(members);
  agreement.kind = members.As("kind", AgreementKindFromName);
  agreement.party = {members.Text("party")};
  agreement.level = members.As("level", ShareLevelFromName);
  agreement.accepted = !members.Flag("open");
  agreement.successor = members.Text("successor");
  agreement.reason = members.Text("reason");
  agreement.actor = members.Text("by");
  agreement.at = members.Time("at");
  agreement.until = members.OptionalTime("until");
  const bool needs_party = agreement.kind != AgreementKind::kProtection;
  if (needs_party == agreement.party.empty()) members.Fail(".party does not fit its kind");
  fault = members.fault();
  return agreement;
}

ResourceName ReadFurtherName(const Json& json, const KeyText& key, const std::string& place,
                             std::string& fault) {
  Members members(json, place);
  ResourceName name;
  name.key = key;
  name.name = {members.Text("name", true)};
  name.sort = members.As("sort", NameSortFromName);
  name.observed = members.Flag("observed");
  name.at = members.Time("at");
  fault = members.fault();
  return name;
}

KeyCopy ReadCopy(const Json& json, const std::string& place, std::string& fault) {
  Members members(json, place);
  std::string inner;
  KeyCopy copy;
  copy.key = {members.Text("key", true)};
  if (const Json* owner = members.Find("owner", false)) {
    copy.owner = ReadOwner(*owner, copy.key, place + ".owner", inner);
    members.Join(inner);
  }
  members.Each("rows", [&](const Json& value, const std::string& at) {
    copy.rows.push_back(ReadRow(value, copy.key, at, inner));
    members.Join(inner);
  });
  members.Each("objects", [&](const Json& value, const std::string& at) {
    copy.objects.push_back(ReadObject(value, at, inner));
    members.Join(inner);
  });
  members.Each("agreements", [&](const Json& value, const std::string& at) {
    copy.agreements.push_back(ReadAgreement(value, copy.key, at, inner));
    members.Join(inner);
  });
  members.Each("names", [&](const Json& value, const std::string& at) {
    copy.names.push_back(ReadFurtherName(value, copy.key, at, inner));
    members.Join(inner);
  });
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(copy.names.begin(), copy.names.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  std::sort(copy.rows.begin(), copy.rows.end(), by_id);
  std::sort(copy.agreements.begin(), copy.agreements.end(), by_id);
  fault = members.fault();
  return copy;
}

}  // namespace

void WriteKeyCopy(const KeyCopy& copy, JsonWriter& json) {
  const auto list = [&](const char* name, const auto& items, auto write) {
    if (items.empty()) return;
    json.Key(name).BeginArray();
    for (const auto& item : items) write(item, json);
    json.EndArray();
  };
  json.BeginObject().Field("key", copy.key.text);
  if (copy.owner) WriteOwner(*copy.owner, json);
  list("rows", copy.rows, WriteRow);
  list("objects", copy.objects, WriteKnownObject);
  list("agreements", copy.agreements, WriteAgreed);
  list("names", copy.names, WriteFurtherName);
  json.EndObject();
}

Result<CopiesRequest> ReadCopies(std::string_view body) {
  const auto bad = [](std::string message) {
    return Error{ErrorCode::kInvalidArgument, std::move(message)};
  };
  if (NestsTooDeep(body)) return bad(TooDeepText());
  const Json json = ParseJson(body);
  if (!json.is_object()) return bad("the body is not a JSON object");
  Members members(json, "the body");
  CopiesRequest request;
  request.apply = members.Flag("apply");
  members.Each("skip", [&](const Json& value, const std::string&) {
    if (value == "conflicting") {
      request.skip_conflicting = true;
    } else if (value == "unknown") {
      request.skip_unknown = true;
    } else {
      members.Fail(".skip takes \"conflicting\" and \"unknown\"");
    }
  });
  const Json* copies = members.Find("copies", true);
  if (copies != nullptr && !copies->is_array()) members.Fail(".copies is not a list");
  if (copies != nullptr && copies->is_array() && copies->size() > kCopiesAtOnce) {
    return bad("more than 10,000 keys; a larger registry is copied with truce backup and restore");
  }
  if (!members.fault().empty()) return bad(members.fault());
  std::string fault;
  for (std::size_t i = 0; i < copies->size(); ++i) {
    request.copies.push_back(ReadCopy((*copies)[i], "copies[" + std::to_string(i) + "]", fault));
    if (!fault.empty()) return bad(std::move(fault));
  }
  return request;
}

}  // namespace truce
