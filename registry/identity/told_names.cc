#include "registry/identity/told_names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "registry/catalogue/name_form.h"
#include "registry/catalogue/normalise.h"
#include "registry/identity/draft.h"
#include "registry/identity/evidence.h"
#include "registry/identity/identity.h"

namespace truce {
namespace {

constexpr std::array<std::string_view, 8> kPartitionNames = {
    "aws", "aws-cn", "aws-us-gov", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f", "aws-eusc"};

// The third field of an ARN, its service.
std::string_view ServiceOfArn(std::string_view arn) {
  for (int field = 0; field < 2; ++field) {
    const std::size_t colon = arn.find(':');
    if (colon == std::string_view::npos) return {};
    arn.remove_prefix(colon + 1);
  }
  return arn.substr(0, arn.find(':'));
}

bool TellsKey(const TypeSpec& type, const NameReading& reading) {
  if (reading.parts.empty()) return false;
  return std::all_of(type.parts.begin(), type.parts.end(), [&](const KeyPart& part) {
    return !reading.Part(part.name).empty() || (!part.list && part.default_value.has_value());
  });
}

class Teller {
 public:
  Teller(std::string_view text, const ResourceIdentity& place, ToldNames& out)
      : text_(text),
        place_(place),
        out_(out),
        is_arn_(text.starts_with("arn:")),
        service_(is_arn_ ? ServiceOfArn(text) : std::string_view()) {}

  void Ask(const TypeSpec& type) {
    for (const NameForm& form : type.external_name) {
      if (!MayFit(form.text())) continue;
      if (const auto reading = form.Read(text_)) {
        // A form with a placeholder for the service reads ARNs of every service: that it reads this
        // one does not mean that anybody understands it.
        const bool any_service = is_arn_ && ServiceOfArn(form.text()).starts_with('{');
        guess_ = any_service && type.Service() != service_;
        return Take(type, *reading, true);
      }
    }
    // The template names parts that the forms may leave out: only a whole key is taken from it.
    if (!is_arn_ || ServiceOfArn(type.arn_template) != service_) return;
    const Result<NameForm> form = NameForm::Parse(type.arn_template);
    if (!form.ok()) return;
    guess_ = false;
    if (const auto reading = form.value().Read(text_)) Take(type, *reading, false);
  }

 private:
  // What most forms differ in, so that few of the catalogue's are read: the text before the first
  // placeholder, the service of an ARN.
  bool MayFit(std::string_view form) const {
    const std::string_view begin = form.substr(0, form.find_first_of("{?"));
    if (!text_.starts_with(begin)) return false;
    const bool both = is_arn_ && form.starts_with("arn:");
    const std::string_view service = both ? ServiceOfArn(form) : std::string_view();
    return service.empty() || service == service_ || service.front() == '{';
  }

  void Take(const TypeSpec& type, const NameReading& reading, bool may_be_id) {
    ResourceIdentity identity;
    identity.type = type.name;
    if (!Choose(reading.account, place_.account, identity.account)) return;
    if (!Choose(reading.region, place_.region, identity.region)) return;
    identity.partition = reading.partition;
    if (identity.partition.empty() && !identity.region.empty()) {
      identity.partition = PartitionOf(identity.region);
    }
    const bool whole = TellsKey(type, reading);
    if (!whole && !may_be_id) return;
    if (whole) {
      for (const KeyPart& part : type.parts) {
        const std::string_view told = reading.Part(part.name);
        identity.parts.emplace_back(part.name, told.empty() ? part.default_value.value_or("")
                                                            : Normalise(part.normalisers, told));
      }
      if (type.KeyHasRegion() && identity.region.empty()) out_.lacks_region = true;
      InEachPartition(std::move(identity), type.KeyHasAccount(),
                      [&](const ResourceIdentity& each) { return KeyOf(each, type); });
      return;
    }
    const bool is_text = reading.id.empty();
    if (is_text && !LooksLikeAddress(text_)) return;
    const AssignedId id{is_text ? text_ : reading.id, is_text || type.id_in_partition, false};
    if (!id.in_partition && identity.region.empty()) {
      out_.lacks_region = true;
      return;
    }
    InEachPartition(std::move(identity), !id.in_partition,
                    [&](const ResourceIdentity& each) -> std::optional<KeyText> {
                      return AssignedName(each, type, id);
                    });
  }

  // What the text tells, else what the asker says; false where they differ.
  static bool Choose(std::string_view told, const std::string& said, std::string& chosen) {
    if (!told.empty() && !said.empty() && told != said) return false;
    chosen = told.empty() ? said : std::string(told);
    return true;
  }

  template <typename NameOf>
  void InEachPartition(ResourceIdentity identity, bool has_account, const NameOf& name_of) {
    const bool told = !identity.partition.empty();
    const std::string account = has_account ? identity.account : std::string();
    if (has_account && account.empty()) identity.account = kAnyAccount;
    for (const std::string_view partition : kPartitionNames) {
      // Nobody said in which: the wrong ones name nothing that anybody owns.
      if (!told) identity.partition = partition;
      if (auto name = name_of(identity)) {
        out_.recognised = out_.recognised || !guess_;
        ToldName told_name{*std::move(name), account};
        const auto at = std::find(out_.names.begin(), out_.names.end(), told_name);
        if (at == out_.names.end()) out_.names.push_back(std::move(told_name));
      }
      if (told) return;
    }
  }

  const std::string_view text_;
  const ResourceIdentity& place_;
  ToldNames& out_;
  const bool is_arn_;
  const std::string_view service_;
  bool guess_ = false;  // of what is being taken
};

}  // namespace

ToldNames NamesTold(std::string_view text, const ResourceIdentity& place,
                    const Catalogue& catalogue) {
  ToldNames out;
  Teller teller(text, place, out);
  for (const TypeSpec& type : catalogue.types()) teller.Ask(type);
  return out;
}

bool IsNameOfRegistry(std::string_view key, const Catalogue& catalogue) {
  constexpr int kPlaceFields = 4;  // space|partition|account|region
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t bar = key.find('|');
    fields.push_back(key.substr(0, bar));
    if (bar == std::string_view::npos) break;
    key.remove_prefix(bar + 1);
  }
  if (fields.size() < kPlaceFields || fields[1].empty()) return false;
  std::vector<std::string_view> parts;
  for (std::size_t i = kPlaceFields; i < fields.size(); ++i) {
    const std::size_t equals = fields[i].find('=');
    if (equals == std::string_view::npos) return false;
    parts.push_back(fields[i].substr(0, equals));
  }
  const std::string_view account = fields[2];
  const bool is_account = account.empty() || account.starts_with('?') || IsAccount(account);
  const auto space = PercentDecode(fields[0]);
  if (!is_account || !space) return false;
  const bool is_id = parts.size() == 1 && parts.front() == "@id";
  return std::any_of(catalogue.types().begin(), catalogue.types().end(), [&](const TypeSpec& type) {
    const auto is_named = [](const KeyPart& part, std::string_view name) {
      return part.name == name;
    };
    return type.space == *space && (is_id || std::equal(type.parts.begin(), type.parts.end(),
                                                        parts.begin(), parts.end(), is_named));
  });
}

bool IsRegion(std::string_view text) {
  static const NameForm kForm = NameForm::Parse("{region}").value();
  return kForm.Read(text).has_value();
}

}  // namespace truce
