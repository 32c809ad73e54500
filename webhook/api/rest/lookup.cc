#include "webhook/api/rest/lookup.h"

#include <algorithm>
#include <map>
#include <utility>

#include "registry/base/random_id.h"
#include "registry/base/text.h"
#include "registry/catalogue/explain.h"
#include "registry/catalogue/name_form.h"
#include "registry/identity/evidence.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/names.h"
#include "registry/ownership/resolve.h"
#include "registry/ownership/rows.h"
#include "webhook/api/rest/queries.h"

namespace truce {
namespace {

constexpr std::size_t kFoundMax = 1000;         // resources of one answer, before rights are asked
constexpr std::size_t kObjectsMax = 1000;       // of one chain
constexpr std::size_t kPassedOver = 10'000;     // owners or rows looked at for an object's name
constexpr std::size_t kNamespacesMax = 10'000;  // of one kind
constexpr std::size_t kPage = 500;
constexpr std::size_t kLabelsMax = 16;  // of a name within zones

// As kubectl names kinds: the kind or its plural, whatever the case.
bool IsKind(std::string_view word, std::string_view kind) {
  const std::string lower = LowerOf(kind);
  if (word == lower) return true;
  if (lower.ends_with('s')) return word == lower + "es";
  if (lower.ends_with('y')) return word == lower.substr(0, lower.size() - 1) + "ies";
  return word == lower + "s";
}

Problem NotUnderstood(std::string detail) {
  return {ProblemType::kMalformed, std::move(detail), std::string(LookupForms())};
}

class Reader {
 public:
  Reader(const LookupWords& words, const AdmissionPolicy& policy) : words_(words), policy_(policy) {
    place_.account = words.account;
    place_.region = words.region;
    out_.catalogue = policy.catalogue;
    out_.account = words.account;
    out_.region = words.region;
  }

  std::optional<Problem> Read() {
    const std::string* const given[] = {&words_.resource, &words_.arn, &words_.key, &words_.name};
    const auto count = std::count_if(std::begin(given), std::end(given),
                                     [](const std::string* each) { return !each->empty(); });
    if (count != 1) {
      return NotUnderstood("name one of a resource, an arn, a name (with its type), or a key");
    }
    if (!words_.account.empty() && !IsAccount(words_.account)) {
      return NotUnderstood(InQuotes(words_.account) + " is not an account: it has 12 digits");
    }
    if (!words_.region.empty() && !IsRegion(words_.region)) {
      return NotUnderstood(InQuotes(words_.region) + " is not a region, as us-east-1");
    }
    auto problem = ReadGiven();
    if (!problem && words_.ns && !out_.objects) {
      return NotUnderstood("a namespace says which object is meant, and no KIND/NAME is given");
    }
    return problem;
  }

  Lookup Take() { return std::move(out_); }

 private:
  std::optional<Problem> ReadGiven() {
    if (!words_.arn.empty()) return ReadAddress(words_.arn);
    if (!words_.key.empty()) return ReadKey(words_.key);
    if (!words_.name.empty()) return ReadName();
    return ReadWord(words_.resource);
  }

  std::optional<Problem> ReadWord(const std::string& word) {
    if (LooksLikeAddress(word)) return ReadAddress(word);
    if (word.find('|') != std::string::npos) return ReadKey(word);
    if (word.find('/') != std::string::npos) return ReadPath(word);
    if (IsId(word)) out_.id = ResourceId{word};
    AddNamesIn(word);
    out_.named.push_back({word, {}, {}});
    AddWithinZones(word, nullptr);
    return std::nullopt;
  }

  // Names in a zone may be kept without the zone's name, and be written with a dot at the end.
  // `only`: of that type; null: of any.
  void AddWithinZones(std::string_view word, const TypeSpec* only) {
    std::set<std::string> types;
    for (const TypeSpec& type : policy_.catalogue->types()) {
      const bool lies_within =
          std::any_of(type.parts.begin(), type.parts.end(),
                      [](const KeyPart& part) { return !part.within.empty(); });
      if (lies_within && (only == nullptr || only == &type)) types.insert(type.name);
    }
    if (types.empty()) return;
    if (word.ends_with('.')) {
      word.remove_suffix(1);
      out_.named.push_back({std::string(word), types, {}});
    }
    std::size_t zones = 0;
    for (std::size_t dot = word.find('.'); dot != std::string_view::npos && zones < kLabelsMax;
         dot = word.find('.', dot + 1), ++zones) {
      out_.named.push_back(
          {std::string(word.substr(0, dot)), types, LowerOf(word.substr(dot + 1))});
    }
  }

  // An ARN or a URL.
  std::optional<Problem> ReadAddress(const std::string& text) {
    if (!LooksLikeAddress(text)) return NotUnderstood(InQuotes(text) + " is not an ARN");
    out_.arn = text;
    if (words_.known_arn && text.starts_with("arn:")) return std::nullopt;
    const TextNames found = AddNamesIn(text);
    if (found.recognised) return std::nullopt;
    out_.if_nothing = NotUnderstood(
        found.lacks_region
            ? InQuotes(text) + " tells no region; add the region"
            : InQuotes(text) + " is neither an ARN nor a URL of a resource that Truce knows");
    return std::nullopt;
  }

  std::optional<Problem> ReadKey(const std::string& key) {
    if (!IsNameOfRegistry(key, *policy_.catalogue)) {
      return NotUnderstood(InQuotes(key) + " is not a name as truce describe prints it");
    }
    out_.keys.push_back({key});
    return std::nullopt;
  }

  std::optional<Problem> ReadName() {
    std::set<std::string> types;
    if (!words_.type.empty()) {
      const TypeSpec* type = FindType(words_.type);
      if (type == nullptr) {
        return Problem{ProblemType::kMalformed, NoType(words_.type, *policy_.catalogue),
                       "/api/v1/types lists all"};
      }
      types.insert(type->name);
      AddWithinZones(words_.name, type);
    }
    out_.named.push_back({words_.name, std::move(types), {}});
    return std::nullopt;
  }

  // TYPE/NAME, KIND[.GROUP]/OBJECT, or a name that holds a slash.
  std::optional<Problem> ReadPath(const std::string& word) {
    const std::size_t first = word.find('/');
    const std::size_t second = word.find('/', first + 1);
    const TypeSpec* type = second == std::string::npos ? nullptr : FindType(word.substr(0, second));
    if (type != nullptr) {
      if (second + 1 == word.size()) return NotUnderstood(InQuotes(word) + " names nothing");
      out_.named.push_back({word.substr(second + 1), {type->name}, {}});
      AddWithinZones(std::string_view(word).substr(second + 1), type);
      return std::nullopt;
    }
    AddNamesIn(word);
    const bool is_object = first > 0 && second == std::string::npos && first + 1 < word.size();
    if (is_object && AddObjects(word.substr(0, first), word.substr(first + 1))) {
      // A secret may be called so.
      if (!words_.ns) out_.named.push_back({word, {}, {}});
      return std::nullopt;
    }
    out_.named.push_back({word, {}, {}});
    // Log groups and parameters are called so.
    if (first == 0) return std::nullopt;
    const bool is_kind = second == std::string::npos;
    out_.if_nothing =
        NotUnderstood(is_kind ? "nobody owns " + InQuotes(word) + ", and there is no kind " +
                                    InQuotes(word.substr(0, first))
                              : "nobody owns " + InQuotes(word) + ", and there is no type " +
                                    InQuotes(word.substr(0, second)));
    return std::nullopt;
  }

  // False: there is no such kind.
  bool AddObjects(const std::string& kind_word, const std::string& name) {
    const std::size_t dot = kind_word.find('.');
    const std::string kind = LowerOf(std::string_view(kind_word).substr(0, dot));
    const std::string group =
        dot == std::string::npos ? std::string() : LowerOf(kind_word.substr(dot + 1));
    Lookup::Objects objects{{}, policy_.identity.cluster, name, words_.ns};
    std::set<std::string> types;
    const auto fits = [&](std::string_view of_group, std::string_view of_kind) {
      return IsKind(kind, of_kind) && (dot == std::string::npos || group == of_group);
    };
    for (const TypeSpec& type : policy_.catalogue->types()) {
      for (const KindSpec& each : type.kinds) {
        if (!fits(each.group, each.kind)) continue;
        objects.kinds.insert({each.group, each.kind});
        types.insert(type.name);
      }
    }
    for (const MappingRule& rule : policy_.identity.mappings.all()) {
      if (fits(rule.kind.group, rule.kind.kind)) objects.kinds.insert(rule.kind);
    }
    for (const GroupKind& each : policy_.identity.composites) {
      if (fits(each.group, each.kind)) objects.kinds.insert(each);
    }
    if (objects.kinds.empty()) return false;
    if (types.empty() || words_.ns) {
      out_.if_nothing = Problem{ProblemType::kNotFound,
                                "no " + kind_word + " named " + InQuotes(name) +
                                    (words_.ns ? " in namespace " + InQuotes(*words_.ns) : "") +
                                    " is known to own anything",
                                "look for it with kubectl get; its conditions say what it lacks"};
    } else {
      out_.named.push_back({name, std::move(types), {}});
    }
    out_.objects = std::move(objects);
    return true;
  }

  TextNames AddNamesIn(const std::string& text) {
    TextNames found = NamesInText(text, place_, *policy_.catalogue);
    out_.text_names = found.names;
    return found;
  }

  // Whatever the case.
  const TypeSpec* FindType(const std::string& name) const {
    if (const TypeSpec* type = policy_.catalogue->FindType(name)) return type;
    for (const TypeSpec& type : policy_.catalogue->types()) {
      if (EqualsIgnoringCase(type.name, name)) return &type;
    }
    return nullptr;
  }

  const LookupWords& words_;
  const AdmissionPolicy& policy_;
  ResourceIdentity place_;
  Lookup out_;
};

class Finder {
 public:
  Finder(const Lookup& lookup, const AllFacts& facts) : lookup_(lookup), facts_(facts) {}

  FoundResources Find() {
    if (lookup_.id) Add(OwnerWithId(*lookup_.id, facts_));
    for (const KeyText& key : lookup_.keys) Add(OwnerByName(key, facts_));
    for (const KeyText& key : facts_.KeysWithArn(lookup_.arn, kFoundMax)) {
      Add(OwnerByName(key, facts_));
    }
    for (const TextName& name : lookup_.text_names) FindTextName(name);
    for (const Lookup::Named& named : lookup_.named) FindNamed(named);
    if (lookup_.objects) FindObjects(*lookup_.objects);
    FoundResources out;
    out.complete = complete_;
    for (auto& [key, found] : found_) out.resources.push_back(std::move(found));
    return out;
  }

 private:
  // The resource that has the name; where nobody has it, those of equal parts whose account is not
  // known. Without account: those of all accounts.
  void FindTextName(const TextName& name) {
    const bool any_account = name.account.empty() && AccountIn(name.name) == kAnyAccount;
    if (!any_account) {
      if (auto owner = OwnerByName(name.name, facts_)) return Add(std::move(owner));
      // Nothing else is asked for: the name itself says that there is no account in it.
      if (name.account.empty()) return;
    }
    const std::string shape = ShapeOf(name.name);
    if (shape.empty()) return;
    std::vector<Owner> owners = facts_.OwnersOfShape(shape, kFoundMax);
    for (Owner& owner : owners) {
      if (any_account || !IsAccount(owner.identity.account))
        Add(std::move(owner), {.certain = any_account});
    }
  }

  void FindNamed(const Lookup::Named& named) {
    for (const KeyText& key : facts_.KeysWithName(named.name, kPassedOver)) {
      auto owner = OwnerByName(key, facts_);
      if (!owner) continue;
      if (!named.types.empty() && !named.types.contains(owner->identity.type)) continue;
      if (!named.zone.empty() &&
          ZoneNameOf(owner->identity, *lookup_.catalogue, facts_) != named.zone)
        continue;
      // Another case is another name, unless AWS folds it.
      if (owner->name == named.name || Folds(owner->identity.type)) Add(std::move(owner));
    }
  }

  bool Folds(const std::string& type_name) const {
    const TypeSpec* type = lookup_.catalogue->FindType(type_name);
    return type != nullptr &&
           std::any_of(type->parts.begin(), type->parts.end(), [](const KeyPart& part) {
             return std::any_of(
                 part.normalisers.begin(), part.normalisers.end(), [](const Normaliser& each) {
                   return each.op == Normaliser::Op::kLower || each.op == Normaliser::Op::kDns;
                 });
           });
  }

  void FindObjects(const Lookup::Objects& objects) {
    for (const GroupKind& kind : objects.kinds) {
      for (const std::string& ns : NamespacesOf(objects, kind)) {
        FindChain({objects.cluster, kind.group, kind.kind, ns, objects.name});
      }
    }
    const auto is_meant = [&](const Slot& slot) {
      return slot.name == objects.name && objects.kinds.contains({slot.group, slot.kind}) &&
             (!objects.ns || slot.ns.empty() || slot.ns == *objects.ns);
    };
    // The object went and left what it owned.
    EachOwner(OwnerList::kOrphaned, [&](Owner& owner) {
      const auto& left = owner.left;
      if (is_meant(owner.root) || std::any_of(left.begin(), left.end(), is_meant)) {
        Add(std::move(owner), {.by_object = true});
      }
    });
  }

  std::vector<std::string> NamespacesOf(const Lookup::Objects& objects, const GroupKind& kind) {
    if (objects.ns) return {"", *objects.ns};
    auto namespaces = facts_.NamespacesOf(objects.cluster, kind, kNamespacesMax);
    complete_ = complete_ && namespaces.size() < kNamespacesMax;
    return namespaces;
  }

  template <typename Visit>
  void EachOwner(OwnerList list, const Visit& visit) {
    KeyText after;
    for (std::size_t passed = 0; passed < kPassedOver; passed += kPage) {
      std::vector<Owner> page = facts_.OwnersIn(list, after, kPage);
      const bool is_last = page.size() < kPage;
      if (!is_last) after = page.back().key;
      for (Owner& owner : page) visit(owner);
      if (is_last) return;
    }
    complete_ = false;
  }

  // Finds the declarations of the object in the slot, and of the objects composed from it.
  void FindChain(const Slot& top) {
    std::vector<Slot> slots = {top};
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (i == kObjectsMax) {
        complete_ = false;
        return;
      }
      const auto object = facts_.ObjectBySlot(slots[i]);
      if (!object) continue;
      for (const Row& row : facts_.RowsOfUid(object->uid)) {
        Add(facts_.OwnerOf(row.id.resource), {.by_object = true});
      }
      for (const Object& child : facts_.ChildrenOf(slots[i])) {
        const bool is_new = std::find(slots.begin(), slots.end(), child.slot) == slots.end();
        if (is_new) slots.push_back(child.slot);
      }
    }
  }

  struct How {
    bool certain = true;
    bool by_object = false;
  };
  void Add(std::optional<Owner> owner, How how) {
    if (!owner) return;
    const ResourceIdentity& identity = owner->identity;
    const bool elsewhere =
        !lookup_.region.empty() && !identity.region.empty() && identity.region != lookup_.region;
    if (elsewhere) return;
    if (!lookup_.account.empty() && !identity.account.empty()) {
      if (IsAccount(identity.account) && identity.account != lookup_.account) return;
      how.certain = how.certain && IsAccount(identity.account);
    }
    if (found_.size() >= kFoundMax) {
      complete_ = false;
      return;
    }
    KeyText key = owner->key;
    const auto [at, is_new] = found_.try_emplace(
        std::move(key), FoundResource{*std::move(owner), how.certain, how.by_object});
    if (is_new) return;
    at->second.certain = at->second.certain || how.certain;
    at->second.by_object = at->second.by_object && how.by_object;
  }
  void Add(std::optional<Owner> owner) { Add(std::move(owner), How{}); }

  const Lookup& lookup_;
  const AllFacts& facts_;
  std::map<KeyText, FoundResource> found_;
  bool complete_ = true;
};

}  // namespace

std::string_view LookupForms() {
  return "name it by its name, TYPE/NAME (s3/Bucket/NAME), ARN, URL, an id that AWS gave "
         "(sg-0a1b2c3d), a name or id that truce describe prints, or by an object that declares "
         "it: KIND/NAME or KIND.GROUP/NAME, with its namespace";
}

LookupReading ReadLookup(const LookupWords& words, const AdmissionPolicy& policy) {
  LookupReading reading;
  Reader reader(words, policy);
  reading.problem = reader.Read();
  reading.lookup = reader.Take();
  return reading;
}

Result<FoundResources> Find(const Lookup& lookup, const Store& store, Deadline deadline) {
  return ReadFrom(store, deadline,
                  [&](const AllFacts& facts) { return Finder(lookup, facts).Find(); });
}

}  // namespace truce
