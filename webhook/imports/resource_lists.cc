// CloudFormation, the Resource Groups Tagging API and AWS Config: lists of names and ARNs.
#include <nlohmann/json.hpp>
#include <utility>

#include "registry/base/result.h"
#include "registry/base/text.h"
#include "webhook/imports/readers.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

std::string FirstOf(const Json& json, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::string text = TextIn(json, name);
    if (!text.empty()) return text;
  }
  return {};
}

// The list below one of `members`; null when none of them is one.
const Json* ListOf(const Json& json, std::initializer_list<const char*> members) {
  for (const char* member : members) {
    const auto found = json.find(member);
    if (found != json.end() && found->is_array()) return &*found;
  }
  return nullptr;
}

Tags TagsOf(const Json& json) {
  Tags tags;
  for (const char* member : {"Tags", "tags"}) {
    const auto found = json.find(member);
    if (found == json.end()) continue;
    if (found->is_object()) {
      for (const auto& [name, value] : found->items()) {
        if (value.is_string()) tags[name] = value.get<std::string>();
      }
    } else if (found->is_array()) {
      for (const Json& each : *found) {
        if (!each.is_object()) continue;
        tags[FirstOf(each, {"Key", "key"})] = FirstOf(each, {"Value", "value"});
      }
    }
  }
  return tags;
}

// The maker of a resource, by the tools' own tags, else by the tag that is configured; empty: no
// tag tells it.
std::string DeclarerOf(const Tags& tags, const ImportDefaults& defaults) {
  const auto tag = [&](std::string_view name) {
    const auto found = tags.find(name);
    return found == tags.end() ? std::string() : found->second;
  };
  if (const std::string name = tag("crossplane-name"); !name.empty()) {
    const std::string kind = tag("crossplane-kind");
    return "Crossplane " + (kind.empty() ? name : kind + "/" + name);
  }
  if (const std::string ns = tag("services.k8s.aws/namespace"); !ns.empty()) {
    return "ACK namespace " + ns;
  }
  if (const std::string stack = tag("aws:cloudformation:stack-name"); !stack.empty()) {
    const std::string id = tag("aws:cloudformation:logical-id");
    return "CloudFormation " + (id.empty() ? stack : stack + "/" + id);
  }
  return defaults.declarer_tag.empty() ? std::string() : tag(defaults.declarer_tag);
}

void AddConfigItem(const Json& item, const ReadContext& context, ImportFile& file) {
  const std::string type = TextIn(item, "resourceType");
  ListedResource named;
  named.address = type + " " + FirstOf(item, {"resourceName", "resourceId"});
  named.type = TypeOfCloudFormation(type, context.catalogue);
  named.name = FirstOf(item, {"resourceName", "resourceId"});
  named.arn = FirstOf(item, {"arn", "ARN"});
  named.region = TextIn(item, "awsRegion");
  named.account = FirstOf(item, {"accountId", "awsAccountId"});
  ImportEntry entry = EntryOfNamed(named, context);
  Describe(TagsOf(item), context, entry);
  file.entries.push_back(std::move(entry));
}

}  // namespace

std::string ArnField(std::string_view arn, int colons) {
  if (!arn.starts_with("arn:")) return {};
  for (int i = 0; i < colons; ++i) {
    const std::size_t at = arn.find(':');
    if (at == std::string_view::npos) return {};
    arn.remove_prefix(at + 1);
  }
  return std::string(arn.substr(0, arn.find(':')));
}

void Describe(const Tags& tags, const ReadContext& context, ImportEntry& entry) {
  if (entry.service.empty()) entry.service = context.defaults.service;
  if (entry.contact.empty()) entry.contact = context.defaults.contact;
  const auto tag = tags.find(context.defaults.service_tag);
  if (tag != tags.end() && !context.defaults.service_tag.empty() && !tag->second.empty()) {
    entry.service = tag->second;
  }
}

ImportEntry EntryOfNamed(const ListedResource& named, const ReadContext& context) {
  const std::string arn =
      named.arn.empty() && named.name.starts_with("arn:") ? named.name : named.arn;
  if (!arn.empty()) {
    if (auto entry = EntryFromArn(arn, named.type, context.catalogue)) {
      entry->address = named.address;
      if (entry->region.empty()) entry->region = named.region;
      if (entry->account.empty()) entry->account = named.account;
      return *std::move(entry);
    }
  }
  ImportEntry entry;
  entry.address = named.address;
  entry.type = named.type;
  entry.arn = arn;
  entry.region = named.region;
  if (entry.region.empty()) entry.region = ArnField(arn, 3);
  if (entry.region.empty()) entry.region = context.defaults.region;
  entry.account = named.account;
  if (entry.account.empty()) entry.account = ArnField(arn, 4);
  if (entry.account.empty()) entry.account = context.defaults.account;
  const TypeSpec* spec = context.catalogue.FindType(named.type);
  if (spec == nullptr) {
    entry.problem = arn.empty() ? "the catalogue has no such type"
                                : "the catalogue has no type that this ARN names alone";
    return entry;
  }
  if (spec->parts.size() > 1) {
    std::vector<std::string> needed;
    for (const auto& part : spec->parts) {
      if (!part.default_value) needed.push_back("part:" + part.name);
    }
    entry.problem = "a name alone does not tell which " + spec->name + " it is: write a CSV with " +
                    Joined(needed);
    return entry;
  }
  std::string name = named.name;
  // A queue's id is its URL.
  if (name.starts_with("https://")) name = name.substr(name.rfind('/') + 1);
  if (spec->parts.size() == 1) {
    if (name.empty() || name.starts_with("arn:")) {
      entry.problem = "the list does not say its name";
      return entry;
    }
    entry.parts.emplace(spec->parts.front().name, std::move(name));
  }
  if (entry.account.empty() && spec->KeyHasAccount()) {
    entry.problem = "its account is not known; name it with --account";
  }
  if (entry.region.empty() && spec->KeyHasRegion()) {
    entry.problem = "its region is not known; name it with --region";
  }
  return entry;
}

Result<void> ReadCloudFormation(std::string_view text, const ReadContext& context,
                                ImportFile& file) {
  const Json json = ParseJson(text);
  if (!json.is_object()) return InvalidArgument("the file is not a JSON object");
  const Json* list = ListOf(json, {"StackResources", "StackResourceSummaries"});
  if (list == nullptr) return InvalidArgument("\"StackResources\" is missing");
  for (const Json& item : *list) {
    if (!item.is_object())
      return InvalidArgument("\"StackResources\" holds something that is not an object");
    const std::string type = TextIn(item, "ResourceType");
    const std::string id = TextIn(item, "PhysicalResourceId");
    const std::string status = TextIn(item, "ResourceStatus");
    if (!type.starts_with("AWS::") || id.empty() || status == "DELETE_COMPLETE") {
      ++file.foreign;
      continue;
    }
    ListedResource named;
    const std::string stack = TextIn(item, "StackName");
    named.address = (stack.empty() ? "" : stack + "/") + TextIn(item, "LogicalResourceId");
    named.type = TypeOfCloudFormation(type, context.catalogue);
    named.name = id;
    const std::string stack_id = TextIn(item, "StackId");
    named.region = ArnField(stack_id, 3);
    named.account = ArnField(stack_id, 4);
    ImportEntry entry = EntryOfNamed(named, context);
    if (entry.type.empty()) entry.problem = "the catalogue has no type for " + type;
    Describe({}, context, entry);
    file.entries.push_back(std::move(entry));
  }
  return {};
}

Result<void> ReadTagging(std::string_view text, const ReadContext& context, ImportFile& file) {
  const Json json = ParseJson(text);
  if (!json.is_object()) return InvalidArgument("the file is not a JSON object");
  const Json* list = ListOf(json, {"ResourceTagMappingList"});
  if (list == nullptr) return InvalidArgument("\"ResourceTagMappingList\" is missing");
  for (const Json& item : *list) {
    if (!item.is_object())
      return InvalidArgument("\"ResourceTagMappingList\" holds what is not an object");
    ListedResource named;
    named.arn = TextIn(item, "ResourceARN");
    named.address = named.arn;
    ImportEntry entry = EntryOfNamed(named, context);
    const Tags tags = TagsOf(item);
    Describe(tags, context, entry);
    if (std::string declarer = DeclarerOf(tags, context.defaults); !declarer.empty()) {
      entry.address = std::move(declarer);
    }
    file.entries.push_back(std::move(entry));
  }
  return {};
}

Result<void> ReadConfigItems(std::string_view text, const ReadContext& context, ImportFile& file) {
  const Json json = ParseJson(text);
  if (!json.is_object()) return InvalidArgument("the file is not a JSON object");
  const Json* list = ListOf(
      json, {"resourceIdentifiers", "configurationItems", "baseConfigurationItems", "Results"});
  if (list == nullptr) return InvalidArgument("\"resourceIdentifiers\" is missing");
  for (const Json& item : *list) {
    // select-resource-config writes each result as a text of JSON.
    const Json parsed = item.is_string() ? ParseJson(item.get<std::string>()) : Json();
    const Json& one = item.is_string() ? parsed : item;
    if (!one.is_object()) return InvalidArgument("the list holds something that is not an object");
    AddConfigItem(one, context, file);
  }
  return {};
}

}  // namespace truce
