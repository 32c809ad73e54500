#include "registry/identity/text_names.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "registry/base/text.h"
#include "registry/catalogue/name_form.h"
#include "registry/identity/draft.h"
#include "registry/identity/evidence.h"
#include "registry/identity/identity.h"
#include "registry/identity/parts.h"

namespace truce {
namespace {

// The third field of an ARN, its service.
std::string_view ServiceOfArn(std::string_view arn) {
  TakeUntil(arn, ':');
  TakeUntil(arn, ':');
  return TakeUntil(arn, ':');
}

class Teller {
 public:
  Teller(std::string_view text, const ResourceIdentity& place, TextNames& out)
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
    if (ServiceOfArn(type.arn_template) != service_) return;
    guess_ = false;
    if (const auto reading = ReadTemplate(text_, type)) Take(type, *reading, false);
  }

 private:
  // Most forms differ in the text before the first placeholder, or in the service of an ARN: few of
  // the catalogue's are read.
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
      identity.partition = PartitionOf(identity.region).name;
    }
    if (AddParts(type, reading, identity)) {
      if (type.KeyHasRegion() && identity.region.empty()) out_.lacks_region = true;
      InEachPartition(std::move(identity), type.KeyHasAccount(),
                      [&](const ResourceIdentity& each) { return KeyOf(each, type); });
      return;
    }
    const auto id = may_be_id ? IdIn(text_, reading, type) : std::nullopt;
    if (!id) return;
    if (!id->in_partition && identity.region.empty()) {
      out_.lacks_region = true;
      return;
    }
    InEachPartition(std::move(identity), !id->in_partition,
                    [&](const ResourceIdentity& each) -> std::optional<KeyText> {
                      return AssignedName(each, type, *id);
                    });
  }

  // The parts of the key; false: the reading does not tell all of them.
  static bool AddParts(const TypeSpec& type, const NameReading& reading,
                       ResourceIdentity& identity) {
    for (const KeyPart& part : type.parts) {
      std::optional<std::string> value = PartValue(part, reading);
      if (!value) return false;
      identity.parts.emplace_back(part.name, *std::move(value));
    }
    return !reading.parts.empty();
  }

  // The text's value, else the asker's; false where they differ.
  static bool Choose(std::string_view read, const std::string& said, std::string& chosen) {
    if (!read.empty() && !said.empty() && read != said) return false;
    chosen = read.empty() ? said : std::string(read);
    return true;
  }

  template <typename NameOf>
  void InEachPartition(ResourceIdentity identity, bool has_account, const NameOf& name_of) {
    const bool has_partition = !identity.partition.empty();
    const std::string account = has_account ? identity.account : std::string();
    if (has_account && account.empty()) identity.account = kAnyAccount;
    for (const Partition& partition : kPartitions) {
      // Nobody said in which: the wrong ones name nothing that anybody owns.
      if (!has_partition) identity.partition = partition.name;
      if (auto name = name_of(identity)) {
        out_.recognised = out_.recognised || !guess_;
        TextName name_in_text{*std::move(name), account};
        const auto at = std::find(out_.names.begin(), out_.names.end(), name_in_text);
        if (at == out_.names.end()) out_.names.push_back(std::move(name_in_text));
      }
      if (has_partition) return;
    }
  }

  const std::string_view text_;
  const ResourceIdentity& place_;
  TextNames& out_;
  const bool is_arn_;
  const std::string_view service_;
  bool guess_ = false;  // of what is being taken
};

}  // namespace

TextNames NamesInText(std::string_view text, const ResourceIdentity& place,
                      const Catalogue& catalogue) {
  TextNames out;
  Teller teller(text, place, out);
  for (const TypeSpec& type : catalogue.types()) teller.Ask(type);
  return out;
}

bool IsNameOfRegistry(std::string_view key, const Catalogue& catalogue) {
  ResourceIdentity name;  // names are spelt as identities are, with the space for the type
  if (!ReadIdentity(key, name) || name.partition.empty()) return false;
  const std::string& account = name.account;
  if (!account.empty() && !account.starts_with('?') && !IsAccount(account)) return false;
  const bool is_id = name.parts.size() == 1 && name.parts.front().first == "@id";
  return std::ranges::any_of(catalogue.types(), [&](const TypeSpec& type) {
    const auto is_named = [](const KeyPart& part, const auto& read) {
      return part.name == read.first;
    };
    return type.space == name.type &&
           (is_id || std::ranges::equal(type.parts, name.parts, is_named));
  });
}

bool IsRegion(std::string_view text) {
  static const NameForm kForm = NameForm::Parse("{region}").value();
  return kForm.Read(text).has_value();
}

}  // namespace truce
