// Terraform: `terraform show -json` and state files of version 4. Crossplane's providers are made
// of Terraform's, so a resource's attributes, in camelCase, are the fields of spec.forProvider: the
// same identity reads both.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "registry/base/result.h"
#include "registry/base/text.h"
#include "registry/identity/identity.h"
#include "webhook/imports/readers.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr int kNestingMax = 32;
constexpr std::size_t kModulesMax = 10'000;

void Copy(const Json& json, std::string_view key, int depth, Builder& builder) {
  using Kind = Document::Kind;
  if (depth > kNestingMax || json.is_null()) {
    builder.Scalar(Kind::kNull, key, {});
  } else if (json.is_object()) {
    builder.Open(Kind::kObject, key);
    for (const auto& [name, value] : json.items()) {
      Copy(value, builder.Own(CamelCase(name)), depth + 1, builder);
    }
    builder.Close();
  } else if (json.is_array()) {
    builder.Open(Kind::kArray, key);
    for (const Json& each : json) Copy(each, {}, depth + 1, builder);
    builder.Close();
  } else if (json.is_string()) {
    builder.Scalar(Kind::kString, key, builder.Own(json.get<std::string>()));
  } else {
    builder.Scalar(json.is_boolean() ? Kind::kBool : Kind::kNumber, key, builder.Own(json.dump()));
  }
}

// The object that a provider would make of `attributes`, under that external name.
Document ObjectOf(const Json& attributes, const std::string& external_name,
                  const ImportDefaults& defaults) {
  using Kind = Document::Kind;
  Builder builder;
  builder.Open(Kind::kObject, {});
  builder.Open(Kind::kObject, "metadata");
  builder.Scalar(Kind::kString, "name", "imported");
  builder.Open(Kind::kObject, "annotations");
  builder.Scalar(Kind::kString, "crossplane.io/external-name", builder.Own(external_name));
  builder.Close();
  builder.Close();
  builder.Open(Kind::kObject, "spec");
  builder.Open(Kind::kObject, "providerConfigRef");
  builder.Scalar(Kind::kString, "name", "default");
  builder.Close();
  builder.Open(Kind::kObject, "forProvider");
  for (const auto& [name, value] : attributes.items()) {
    if (name == "region") continue;
    Copy(value, builder.Own(CamelCase(name)), 0, builder);
  }
  std::string region = TextIn(attributes, "region");
  const std::string arn = TextIn(attributes, "arn");
  if (region.empty()) region = ArnField(arn, 3);
  if (region.empty()) region = defaults.region;
  builder.Scalar(Kind::kString, "region", builder.Own(region));
  builder.Close();
  builder.Close();
  builder.Open(Kind::kObject, "status");
  builder.Open(Kind::kObject, "atProvider");
  builder.Scalar(Kind::kString, "arn", builder.Own(arn));
  builder.Close();
  builder.Close();
  builder.Close();
  return builder.Finish();
}

class TerraformReader {
 public:
  TerraformReader(const ReadContext& context, ImportFile& file) : context_(context), file_(file) {}

  Result<void> ReadShow(const Json& json) {
    const auto values = json.find("values");
    if (values == json.end() && json.contains("resource_changes")) {
      return InvalidArgument(
          "it is a plan, which says what will be: `truce check` asks about it before the apply; "
          "import the state, `terraform show -json`, after it");
    }
    if (values == json.end() || !values->is_object()) {
      return InvalidArgument(
          "the state is empty: \"values\" is missing; was it made by `terraform show -json`?");
    }
    const auto root = values->find("root_module");
    if (root == values->end()) return {};
    return ReadModule(*root, 0);
  }

  Result<void> ReadState(const Json& json) {
    const auto resources = json.find("resources");
    if (resources == json.end() || !resources->is_array())
      return InvalidArgument("\"resources\" is not a list");
    for (const Json& resource : *resources) {
      if (!resource.is_object())
        return InvalidArgument("\"resources\" holds something that is not an object");
      const auto instances = resource.find("instances");
      if (instances == resource.end() || !instances->is_array()) continue;
      const std::string module = TextIn(resource, "module");
      const std::string type = TextIn(resource, "type");
      const std::string address =
          (module.empty() ? "" : module + ".") + type + "." + TextIn(resource, "name");
      for (const Json& instance : *instances) {
        std::string at = address;
        if (instance.is_object() && instance.contains("index_key")) {
          at.append("[").append(instance["index_key"].dump()).append("]");
        }
        const bool has = instance.is_object() && instance.contains("attributes");
        Add(TextIn(resource, "mode"), type, at, has ? instance["attributes"] : Json());
      }
    }
    return {};
  }

 private:
  Result<void> ReadModule(const Json& module, int depth) {
    if (depth > kNestingMax || ++modules_ > kModulesMax)
      return InvalidArgument("the modules nest too deep");
    if (!module.is_object()) return InvalidArgument("a module is not an object");
    if (const auto found = module.find("resources"); found != module.end() && found->is_array()) {
      for (const Json& resource : *found) {
        if (!resource.is_object())
          return InvalidArgument("\"resources\" holds something that is not an object");
        const bool has = resource.contains("values");
        Add(TextIn(resource, "mode"), TextIn(resource, "type"), TextIn(resource, "address"),
            has ? resource["values"] : Json());
      }
    }
    const auto children = module.find("child_modules");
    if (children == module.end() || !children->is_array()) return {};
    for (const Json& child : *children) TRUCE_RETURN_IF_ERROR(ReadModule(child, depth + 1));
    return {};
  }

  void Add(const std::string& mode, const std::string& terraform_type, const std::string& address,
           const Json& attributes) {
    if (mode != "managed" || !terraform_type.starts_with("aws_")) {
      ++file_.foreign;
      return;
    }
    ImportEntry entry;
    entry.address = address;
    const TerraformType* const row = FindTerraformType(terraform_type);
    if (row != nullptr) entry.type = row->type;
    if (attributes.is_object()) {
      Tags tags;
      for (const char* member : {"tags", "tags_all"}) {
        const auto found = attributes.find(member);
        if (found == attributes.end() || !found->is_object()) continue;
        for (const auto& [name, value] : found->items()) {
          if (value.is_string()) tags[name] = value.get<std::string>();
        }
      }
      Describe(tags, context_, entry);
      entry.arn = TextIn(attributes, "arn");
    }
    const TypeSpec* spec = row == nullptr ? nullptr : context_.catalogue.FindType(row->type);
    if (spec == nullptr || !attributes.is_object()) {
      entry.problem = spec == nullptr ? "the catalogue has no type for " + terraform_type
                                      : "the state holds no attributes of it";
      file_.entries.push_back(std::move(entry));
      return;
    }
    AddKnown(*spec, TextIn(attributes, std::string(row->name).c_str()), attributes,
             std::move(entry));
  }

  // Under which external name the provider knows it is not told: the one whose ARN is the right one
  // wins, else the first that makes a key.
  void AddKnown(const TypeSpec& spec, const std::string& given, const Json& attributes,
                ImportEntry entry) {
    const std::string id = TextIn(attributes, "id");
    std::vector<std::string> names;
    if (!id.starts_with("arn:")) names.push_back(id);
    names.push_back(given);
    names.push_back(id.substr(id.find_last_of("/:") + 1));
    std::vector<DeclaredResource> best;
    std::string missing = "the state does not say its name";
    for (const std::string& name : names) {
      if (name.empty()) continue;
      std::vector<DeclaredResource> found = DeclaredByAttributes(spec, attributes, name, context_);
      if (!found.empty() && found.front().key().empty() && !found.front().missing.empty()) {
        missing = found.front().missing.front();
      }
      std::erase_if(found, [](const DeclaredResource& each) { return each.key().empty(); });
      if (found.empty()) continue;
      const bool exact = !entry.arn.empty() && found.front().arn == entry.arn;
      if (best.empty() || exact) best = std::move(found);
      if (exact) break;
    }
    if (best.empty()) {
      if (auto by_arn = EntryFromArn(entry.arn, entry.type, context_.catalogue)) {
        entry.parts = std::move(by_arn->parts);
        entry.region = by_arn->region;
        entry.account = by_arn->account;
      } else {
        const bool needs_region = missing == "spec.forProvider.region is not set";
        entry.problem =
            needs_region ? "its region is not known; name it with --region" : std::move(missing);
      }
      file_.entries.push_back(std::move(entry));
      return;
    }
    for (const DeclaredResource& resource : best) {
      ImportEntry each = entry;
      each.type = resource.identity.type;
      each.region = resource.identity.region;
      each.account = resource.identity.account;
      // A provisional account of a cluster's ProviderConfig is none; a state's own ARN is as good
      // as a setting.
      if (each.account.starts_with('?')) each.account = resource.further_account;
      for (const auto& [part, value] : resource.identity.parts) each.parts.emplace(part, value);
      if (each.account.empty() && spec.KeyHasAccount()) {
        each.problem = "its account is not known; name it with --account";
      }
      file_.entries.push_back(std::move(each));
    }
  }

  const ReadContext& context_;
  ImportFile& file_;
  std::size_t modules_ = 0;
};

}  // namespace

std::string CamelCase(std::string_view name) {
  std::string out;
  bool upper = false;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    out += upper ? Upper(c) : c;
    upper = false;
  }
  return out;
}

std::vector<DeclaredResource> DeclaredByAttributes(const TypeSpec& spec, const Json& attributes,
                                                   const std::string& external_name,
                                                   const ReadContext& context) {
  IdentityRules rules;
  rules.cluster = "import";
  rules.catalogue = &context.catalogue;
  if (!context.defaults.account.empty()) {
    for (const char* group : {"aws.upbound.io", "aws.m.upbound.io"}) {
      rules.accounts[{group, "ProviderConfig", "", "default"}] = context.defaults.account;
    }
  }
  for (const KindSpec& kind : spec.kinds) {
    if (kind.flavour != Flavour::kUpjetCluster) continue;
    const Document object = ObjectOf(attributes, external_name, context.defaults);
    return Identify(object.root(), {kind.group, kind.kind}, rules).resources;
  }
  return {};
}

const TerraformType* FindTerraformType(std::string_view name) {
  static const auto kTypes = [] {
    std::map<std::string_view, TerraformType> types;
    for (std::string_view line : TableLines(TerraformTypesText())) {
      const std::string_view theirs = TakeUntil(line, '\t');
      const std::string_view ours = TakeUntil(line, '\t');
      types.emplace(theirs, TerraformType{ours, line.empty() ? "name" : line});
    }
    return types;
  }();
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? nullptr : &found->second;
}

Result<void> ReadTerraform(std::string_view text, const ReadContext& context, ImportFile& file) {
  const Json json = ParseJson(text);
  if (!json.is_object()) return InvalidArgument("the file is not a JSON object");
  TerraformReader reader(context, file);
  if (file.format == ImportFormat::kTerraformShow) return reader.ReadShow(json);
  const auto version = json.find("version");
  if (version == json.end() || *version != 4) {
    return InvalidArgument(
        "the state file is not of version 4; write it with `terraform show -json`");
  }
  return reader.ReadState(json);
}

}  // namespace truce
