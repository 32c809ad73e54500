// Plans of Terraform and OpenTofu: `terraform show -json PLAN`. Attributes are read as those of a
// state are (terraform.cc); a plan says beside them which are known only after the apply.
#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "registry/base/counted.h"
#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/imports/planned.h"
#include "webhook/imports/readers.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kAddressMax = 512;

// The first keys of `terraform show -json`, also where another program sorted them. No object of
// Kubernetes and no template begins with one.
constexpr std::array<std::string_view, 6> kFirstKeys = {
    "format_version", "applyable", "checks", "complete", "configuration", "errored"};

const Json* MemberOf(const Json* json, std::string_view name) {
  if (json == nullptr || !json->is_object()) return nullptr;
  const auto found = json->find(name);
  return found == json->end() ? nullptr : &*found;
}

bool Holds(const Json* list, std::string_view word) {
  if (list == nullptr || !list->is_array()) return false;
  return std::any_of(list->begin(), list->end(), [&](const Json& each) { return each == word; });
}

// "module.a[\"x.y\"].module.b[0]" -> "module.a.module.b".
std::string WithoutKeys(std::string_view address) {
  std::string out;
  bool in_key = false;
  bool in_text = false;
  for (std::size_t i = 0; i < address.size(); ++i) {
    const char c = address[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
    } else if (in_key) {
      in_text = c == '"';
      in_key = c != ']';
    } else if (c == '[') {
      in_key = true;
    } else {
      out += c;
    }
  }
  return out;
}

// A resource of the plan as it will be, as far as its names go.
struct Change {
  std::string address;
  std::string module;  // its address without keys
  std::string type;
  std::string name;
  std::string imported;    // the id of an `import` block
  std::string attributes;  // those that its type's key is made of, as JSON
  const TerraformType* row = nullptr;
  const TypeSpec* spec = nullptr;  // null: it is not known
  std::set<std::string, std::less<>> unknown;
};

class PlanReader {
 public:
  PlanReader(const PlanDefaults& defaults, const Catalogue& catalogue)
      : defaults_(defaults), catalogue_(catalogue) {}

  Result<Planned> Read(std::istream& in) {
    std::string part;  // the member of the plan that is being read
    // Only these are kept; of the changes one at a time.
    const auto keep = [&](int depth, Json::parse_event_t event, Json& parsed) {
      if (depth == 1 && event == Json::parse_event_t::key) {
        part = parsed.get<std::string>();
        return part != "planned_values" && part != "prior_state" && part != "resource_drift" &&
               part != "output_changes" && part != "values";
      }
      if (depth == 2 && event == Json::parse_event_t::object_end && part == "resource_changes") {
        Take(parsed);
        return false;
      }
      has_changes_ = has_changes_ || (depth == 1 && part == "resource_changes");
      return true;
    };
    const Json plan = Json::parse(in, keep, false);
    if (!plan.is_object()) return InvalidArgument("is no JSON, or ends in the middle of it");
    TRUCE_RETURN_IF_ERROR(CheckForm(plan));
    configuration_ = MemberOf(&plan, "configuration");
    variables_ = MemberOf(&plan, "variables");
    for (const Change& change : changes_) Judge(change);
    AddNotes(plan);
    return std::move(out_);
  }

 private:
  Result<void> CheckForm(const Json& plan) const {
    const std::string version = TextIn(plan, "format_version");
    if (version.empty()) {
      return InvalidArgument(
          "has no format_version: write it with `terraform show -json PLAN`, where PLAN is what "
          "`terraform plan -out` wrote");
    }
    if (!version.starts_with("1.") && !version.starts_with("0.")) {
      return InvalidArgument("has format version " + OneLine(version, 32) +
                             ", which is not known; Truce reads plans of version 1");
    }
    if (!has_changes_ && !plan.contains("resource_changes") && !plan.contains("configuration")) {
      return InvalidArgument(
          "is a state, which says what there is: `truce import` records it; a plan is written by "
          "`terraform plan -out PLAN` and `terraform show -json PLAN`");
    }
    return {};
  }

  // Keeps the names of a resource that will be created, replaced or imported.
  void Take(const Json& resource) {
    const Json* const change = MemberOf(&resource, "change");
    const std::string type = TextIn(resource, "type");
    if (TextIn(resource, "mode") != "managed" || resource.contains("deposed")) return;
    const Json* const importing = MemberOf(change, "importing");
    if (!Holds(MemberOf(change, "actions"), "create") && importing == nullptr) return;
    if (!type.starts_with("aws_")) {
      ++foreign_;
      return;
    }
    Change kept;
    kept.address = OneLine(TextIn(resource, "address"), kAddressMax);
    kept.module = WithoutKeys(TextIn(resource, "module_address"));
    kept.type = type;
    kept.name = TextIn(resource, "name");
    if (importing != nullptr) kept.imported = TextIn(*importing, "id");
    kept.row = FindTerraformType(type);
    kept.spec = kept.row == nullptr ? nullptr : catalogue_.FindType(kept.row->type);
    if (kept.spec != nullptr) {
      const TypeSpec* const spec = kept.spec;
      const TerraformType* const row = kept.row;
      const std::set<std::string> wanted = FieldsOf(*spec);
      const auto is_wanted = [&](const std::string& name) {
        return name == row->name || name == "arn" || name == "region" ||
               wanted.contains(CamelCase(name));
      };
      Json attributes = Json::object();
      if (const Json* const after = MemberOf(change, "after"); after && after->is_object()) {
        for (const auto& [name, value] : after->items()) {
          if (is_wanted(name)) attributes[name] = value;
        }
      }
      kept.attributes = Dump(attributes);
      if (const Json* const later = MemberOf(change, "after_unknown");
          later && later->is_object()) {
        for (const auto& [name, value] : later->items()) {
          if (is_wanted(name) && value == true) kept.unknown.insert(name);
        }
      }
    }
    changes_.push_back(std::move(kept));
  }

  // The first steps of all fields that the key is made of.
  static std::set<std::string> FieldsOf(const TypeSpec& spec) {
    std::set<std::string> fields;
    for (const auto* list : {&spec.parts, &spec.extra}) {
      for (const KeyPart& part : *list) {
        for (const auto& path : part.paths) fields.insert(path.front());
      }
    }
    if (!spec.account_path.empty()) fields.insert(spec.account_path.front());
    return fields;
  }

  void Judge(const Change& change) {
    PlannedResource out;
    out.address = change.address;
    out.kind = change.type;
    out.known_kind = change.spec != nullptr;
    if (change.spec != nullptr && !IsGivenByAws(*change.spec)) {
      const Json* const configured = ConfigurationOf(change);
      if (!IsKnownLater(change, configured, out.unclear)) Declare(change, configured, out);
    }
    out_.resources.push_back(std::move(out));
  }

  // Whether a part of the key is known only after the apply, and why that matters. A part that
  // nobody configures is made by AWS or the provider, one that refers to a parent is that of a
  // resource which is not there yet: neither can clash.
  static bool IsKnownLater(const Change& change, const Json* configured, std::string& unclear) {
    bool is_later = false;
    for (const std::string& name : change.unknown) {
      const KeyPart* const part = PartOf(*change.spec, *change.row, name);
      if (part == nullptr) continue;
      is_later = true;
      const Json* const expression = MemberOf(MemberOf(configured, "expressions"), name);
      const bool is_set = configured == nullptr || expression != nullptr;
      const bool is_parent = !part->refers_to.empty() && MemberOf(expression, "references");
      if (is_set && !is_parent) unclear = "its " + name + " is known only after the apply";
    }
    return is_later;
  }

  static const KeyPart* PartOf(const TypeSpec& spec, const TerraformType& row,
                               const std::string& attribute) {
    for (const KeyPart& part : spec.parts) {
      if (part.source == KeyPart::Source::kExternalName && row.name == attribute) return &part;
      for (const auto& path : part.paths) {
        if (path.front() == CamelCase(attribute)) return &part;
      }
    }
    return nullptr;
  }

  void Declare(const Change& change, const Json* configured, PlannedResource& out) const {
    const TypeSpec& spec = *change.spec;
    ImportDefaults place;
    PlaceOf(configured, place);
    const Json attributes = ParseJson(change.attributes);
    std::string name = TextIn(attributes, std::string(change.row->name).c_str());
    if (name.empty() && spec.parts.size() == 1) name = change.imported;
    const bool is_external = std::any_of(
        spec.parts.begin(), spec.parts.end(),
        [](const KeyPart& part) { return part.source == KeyPart::Source::kExternalName; });
    if (name.empty() && is_external) return;  // the provider makes one
    for (const DeclaredResource& each :
         DeclaredByAttributes(spec, attributes, name, {place, catalogue_})) {
      if (each.identity.parts.size() < spec.parts.size()) continue;
      PartValues values(each.identity.parts.begin(), each.identity.parts.end());
      values["region"] = each.identity.region.empty() ? place.region : each.identity.region;
      // A field of its own (Glue's catalog_id) is stronger than the provider's account.
      const bool is_known = !each.identity.account.starts_with('?');
      values["account"] = is_known ? each.identity.account : std::string();
      AddDeclared(spec, values, catalogue_, out);
    }
  }

  // The resource in the configuration; null: it is not there.
  const Json* ConfigurationOf(const Change& change) const {
    const Json* module = MemberOf(configuration_, "root_module");
    std::string_view path = change.module;
    while (!path.empty() && module != nullptr) {
      TakeUntil(path, '.');  // "module"
      const std::string_view name = TakeUntil(path, '.');
      module = MemberOf(MemberOf(MemberOf(module, "module_calls"), name), "module");
    }
    const Json* const resources = MemberOf(module, "resources");
    if (resources == nullptr || !resources->is_array()) return nullptr;
    const std::string address = change.type + "." + change.name;
    const auto found = std::find_if(resources->begin(), resources->end(), [&](const Json& each) {
      return TextIn(each, "address") == address;
    });
    return found == resources->end() ? nullptr : &*found;
  }

  // A constant, or a variable's value. Empty: it is not known.
  std::string TextOf(const Json* expression) const {
    if (expression == nullptr) return {};
    if (expression->is_array() && expression->size() == 1) expression = &expression->front();
    std::string text = TextIn(*expression, "constant_value");
    const Json* const constant = MemberOf(expression, "constant_value");
    if (constant && constant->is_array() && constant->size() == 1 &&
        constant->front().is_string()) {
      text = constant->front().get<std::string>();
    }
    const Json* const references = MemberOf(expression, "references");
    if (!text.empty() || references == nullptr || !references->is_array()) return text;
    for (const Json& each : *references) {
      const std::string name = each.is_string() ? each.get<std::string>() : std::string();
      if (!name.starts_with("var.")) return {};
      const Json* const variable = MemberOf(variables_, std::string_view(name).substr(4));
      return variable == nullptr ? std::string() : TextIn(*variable, "value");
    }
    return {};
  }

  // Region and account as the resource's provider has them, else as the flags say.
  void PlaceOf(const Json* configured, ImportDefaults& place) const {
    place.account = defaults_.account;
    place.region = defaults_.region;
    if (configured == nullptr) return;
    const std::string key = TextIn(*configured, "provider_config_key");
    const Json* const provider = MemberOf(MemberOf(configuration_, "provider_config"), key);
    const Json* const expressions = MemberOf(provider, "expressions");
    const std::string region = TextOf(MemberOf(expressions, "region"));
    if (IsPlace(region)) place.region = region;
    const Json* role = MemberOf(expressions, "assume_role");
    if (role != nullptr && role->is_array() && role->size() == 1) role = &role->front();
    std::string account = ArnField(TextOf(MemberOf(role, "role_arn")), 4);
    if (account.empty()) account = TextOf(MemberOf(expressions, "allowed_account_ids"));
    if (account.size() == 12 && AllDigits(account)) place.account = account;
  }

  static bool IsPlace(std::string_view region) {
    return !region.empty() && region.size() <= 64 &&
           std::all_of(region.begin(), region.end(),
                       [](char c) { return IsLowerOrDigit(c) || c == '-'; });
  }

  void AddNotes(const Json& plan) {
    if (foreign_ > 0) {
      out_.notes.push_back(Counted(foreign_, "resource is", "resources are") +
                           " of other providers than AWS's: passed over");
    }
    const Json* const errored = MemberOf(&plan, "errored");
    const Json* const deferred = MemberOf(&plan, "deferred_changes");
    const Json* const complete = MemberOf(&plan, "complete");
    if ((errored && *errored == true) || (complete && *complete == false) ||
        (deferred && deferred->is_array() && !deferred->empty())) {
      out_.notes.emplace_back("the plan is not complete: what it leaves out is not checked");
    }
  }

  const PlanDefaults& defaults_;
  const Catalogue& catalogue_;
  const Json* configuration_ = nullptr;
  const Json* variables_ = nullptr;
  std::vector<Change> changes_;
  std::size_t foreign_ = 0;
  bool has_changes_ = false;
  Planned out_;
};

}  // namespace

bool BeginsTerraform(std::string_view begin) {
  constexpr std::string_view kBlanks = " \t\r\n\xEF\xBB\xBF";
  const auto skip = [&] {
    begin.remove_prefix(std::min(begin.find_first_not_of(kBlanks), begin.size()));
  };
  skip();
  if (!begin.starts_with('{')) return false;
  begin.remove_prefix(1);
  skip();
  if (!begin.starts_with('"')) return false;
  begin.remove_prefix(1);
  const std::string_view key = TakeUntil(begin, '"');
  return std::find(kFirstKeys.begin(), kFirstKeys.end(), key) != kFirstKeys.end();
}

Result<Planned> ReadTerraformPlan(std::istream& in, const PlanDefaults& defaults,
                                  const Catalogue& catalogue) {
  return PlanReader(defaults, catalogue).Read(in);
}

}  // namespace truce
