#include "webhook/check/checker.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "policies/name_rules.h"
#include "policies/people.h"
#include "policies/rule_case.h"
#include "policies/rules.h"
#include "registry/base/counted.h"
#include "registry/base/text.h"
#include "webhook/check/answer.h"
#include "webhook/check/locations.h"
#include "webhook/check/plain_scalar.h"
#include "webhook/check/question.h"

namespace truce {
namespace {

// The most that one request to the API may hold: 500 items of 20 namespaces in 1 MiB.
constexpr std::size_t kBatchItemsMax = 500;
constexpr std::size_t kBatchNamespacesMax = 20;
constexpr std::size_t kBatchBytesMax = 900 * 1024;
constexpr std::size_t kItemBytesMax = kBatchBytesMax;
constexpr int kItemDepthMax = 1000;  // as for reviews
constexpr std::size_t kFindingTextMax = 2048;
constexpr std::size_t kKindsNamedMax = 10;  // in one line
constexpr std::size_t kKindTextMax = 128;
constexpr std::string_view kCheckGroup = "truce.dev";
constexpr std::string_view kCheckKind = "OwnershipCheck";

// A resource that an object of the input declares, and the place of its name.
struct Declared {
  DeclaredResource resource;
  YamlLocation location;
  // kString, unless kubectl reads the text without quotes at that location as another kind.
  Document::Kind read_as = Document::Kind::kString;
  std::string written;
};

bool IsWithin(const YamlNode* root, const YamlNode* node) {
  if (root == nullptr || root == node) return root != nullptr;
  return std::any_of(root->children.begin(), root->children.end(),
                     [&](const YamlNode& child) { return IsWithin(&child, node); });
}

// `resource`, named at `node` of the input; null when that is not known. `texts`: where everything
// is a text. Elsewhere a CRD takes numbers, booleans and null, or the API server refuses them: a
// word is due only where kubectl reads something else than what is written.
Declared DeclaredAt(DeclaredResource resource, const YamlNode* node, const YamlLocation& otherwise,
                    const YamlNode* texts) {
  Declared out{std::move(resource), otherwise, Document::Kind::kString, {}};
  if (node == nullptr) return out;
  out.location = node->location;
  if (node->kind != YamlNode::Kind::kScalar || node->quoted) return out;
  const PlainReading reading = ReadPlain(node->scalar);
  if (reading.as_written && !IsWithin(texts, node)) return out;
  out.read_as = reading.kind;
  if (out.read_as != Document::Kind::kString) out.written = node->scalar;
  return out;
}

// One object of the input, or one set of values.
struct Subject {
  CheckLocation location;
  Slot slot;
  std::string object;        // for people
  bool apart = false;        // declares what others are about to: compared with itself only
  bool asks_values = false;  // the registry says what the values declare
  bool answered = false;
  bool known_kind = true;  // as far as known
  std::vector<Declared> declared;
  std::vector<CheckFinding> own;    // about the input, with any registry
  std::vector<CheckFinding> local;  // of the rules here; the registry's answer replaces them
  std::vector<CheckFinding> answers;
};

// An object that the registry is still to be asked about.
struct Pending {
  std::size_t subject = 0;
  YamlNode object;
  std::string json;
};

Error Bad(const std::string& file, const YamlLocation& location, const std::string& what) {
  return Error{ErrorCode::kInvalidArgument,
               ForPeople(CheckLocation{file, {}, location}) + ": " + what};
}

std::string TextAt(const YamlNode& object, std::initializer_list<std::string_view> path) {
  const YamlNode* node = FindNode(object, path);
  return node == nullptr || node->kind != YamlNode::Kind::kScalar ? std::string() : node->scalar;
}

int DepthOf(const YamlNode& node) {
  int deepest = 0;
  for (const YamlNode& child : node.children) deepest = std::max(deepest, DepthOf(child));
  return deepest + 1;
}

// Kubernetes' own groups have no dot or end in k8s.io: nothing of theirs declares a cloud resource,
// and their contents (Secrets) stay here.
bool MayDeclare(std::string_view group) {
  return group.find('.') != std::string_view::npos && !group.ends_with(".k8s.io");
}

CheckFinding FromRule(const Finding& finding) {
  return {.severity = SeverityOf(Name(finding.mode)),
          .rule = std::string(Name(finding.rule)),
          .resource = finding.resource,
          .cause = finding.cause,
          .remedy = finding.remedy,
          .link = finding.link,
          .key = finding.key.text};
}

// Refusals quote names; warnings, which are short, do not.
bool NamesIt(const std::string& text, const std::string& name) {
  return text.find("\"" + name + "\"") != std::string::npos ||
         text.find(" " + name + " ") != std::string::npos;
}

// The answer does not say it.
void SetSure(DeclaredResource& resource, const Catalogue& catalogue) {
  const TypeSpec* type = catalogue.FindType(resource.identity.type);
  resource.sure = type != nullptr && type->certainty == Certainty::kResearched;
}

std::string ResourceForPeople(const DeclaredResource& resource) {
  return OneLine(TypeForPeople(resource.identity.type) + " \"" + resource.name + "\"", 256);
}

std::string_view WordFor(Document::Kind kind) {
  if (kind == Document::Kind::kBool) return "a boolean";
  return kind == Document::Kind::kNull ? "nothing" : "a number";
}

// A name that Truce takes as text while kubectl reads something else.
CheckFinding PlainScalar(const Subject& subject, const Declared& declared) {
  CheckFinding finding;
  finding.severity = CheckSeverity::kWarning;
  finding.rule = "plain-scalar";
  finding.location = {subject.location.file, subject.location.source, declared.location};
  finding.object = subject.object;
  finding.resource = ResourceForPeople(declared.resource);
  finding.cause = OneLine("the name " + declared.written +
                              " has no quotes: Truce takes it "
                              "as text, kubectl and Helm as " +
                              std::string(WordFor(declared.read_as)),
                          kFindingTextMax);
  finding.remedy = "Write \"" + declared.written + "\".";
  return finding;
}

std::string ValuesForPeople(const std::string& service) {
  const std::string of = service.empty() ? "" : " of service \"" + service + "\"";
  return OneLine("the values" + of, kFindingTextMax);
}

// The first name that `text` has in quotes; empty: none.
std::string_view QuotedIn(std::string_view text) {
  const std::size_t begin = text.find('"');
  const std::size_t end = begin == text.npos ? text.npos : text.find('"', begin + 1);
  return end == text.npos ? std::string_view() : text.substr(begin + 1, end - begin - 1);
}

// The locations of the declarations in `values`: the nth resource of a name is the nth text that
// reads so.
std::vector<Declared> DeclaredIn(const YamlNode& values, std::vector<DeclaredResource> resources) {
  std::vector<Declared> out;
  std::map<std::string, std::size_t> count;
  for (DeclaredResource& resource : resources) {
    const YamlNode* node = FindText(values, resource.name, count[resource.name]++);
    out.push_back(DeclaredAt(std::move(resource), node, values.location, &values));
  }
  return out;
}

}  // namespace

struct Checker::Impl {
  Impl(CheckSettings given, const AdmissionPolicy& rules, CheckRegistry* asked, Timestamp time)
      : settings(std::move(given)), policy(rules), registry(asked), now(time) {
    if (registry != nullptr) report.registry = registry->name();
  }

  Result<void> AddObject(const YamlNode& object, const CheckLocation& location);
  Result<void> AddReadValues(const YamlNode& values, const MappingRule& rule, Subject subject);
  Result<void> AddPlanned(const PlannedResource& planned, const std::string& file);
  void JudgeHere(const YamlNode& object, const ObjectFacts& facts, Subject& subject) const;
  Result<void> Enqueue(std::size_t subject, YamlNode object, std::string json);
  Result<void> Flush();
  void TakeAnswer(Pending& pending, AnsweredItem answer);
  void CompareAll();
  void Compare(std::size_t subject,
               std::map<std::string, std::pair<std::size_t, std::size_t>>& seen);
  void Collect();
  void NameUnknownKinds();

  CheckSettings settings;
  const AdmissionPolicy& policy;
  CheckRegistry* registry;
  Timestamp now;
  CheckReport report;
  std::vector<CheckFinding> notes;
  std::vector<Subject> subjects;
  std::vector<Pending> batch;
  std::set<std::string> batch_namespaces;
  std::size_t batch_bytes = 0;
  std::map<Slot, std::size_t> slots;
  bool is_blind = false;   // the facts for the registry's rules are not known here
  bool has_plans = false;  // which may rightly bring nothing
};

Result<void> Checker::Impl::AddObject(const YamlNode& object, const CheckLocation& location) {
  const YamlNode* items = object.kind == YamlNode::Kind::kMapping ? object.Find("items") : nullptr;
  const std::string version = TextAt(object, {"apiVersion"});
  const std::string kind = TextAt(object, {"kind"});
  if (version.empty() || kind.empty()) {
    return Bad(location.file, location.at,
               "is not a Kubernetes object: apiVersion and kind are needed");
  }
  if (kind == "List" && version == "v1" && items != nullptr) {
    const bool is_list = items->kind == YamlNode::Kind::kSequence;
    if (!is_list && items->scalar != "null" && !items->scalar.empty()) {
      return Bad(location.file, items->location, "items of a List is not a list");
    }
    for (const YamlNode& item : items->children) {
      TRUCE_RETURN_IF_ERROR(AddObject(item, {location.file, location.source, item.location}));
    }
    return {};
  }
  ++report.documents;
  Subject subject;
  subject.location = location;
  const std::size_t slash = version.find('/');
  subject.slot.group = slash == std::string::npos ? std::string() : version.substr(0, slash);
  subject.slot.kind = kind;
  if (!MayDeclare(subject.slot.group)) return {};
  const KindEntry* entry = policy.catalogue->FindKind(subject.slot.group, kind);
  const bool clustered = entry != nullptr && !SpecOf(entry->flavour).namespaced;
  subject.slot.ns = TextAt(object, {"metadata", "namespace"});
  if (subject.slot.ns.empty() && !clustered) subject.slot.ns = settings.ns;
  subject.slot.name = TextAt(object, {"metadata", "name"});
  const std::string generated = TextAt(object, {"metadata", "generateName"});
  // As the API server would: five characters, which nobody knows before.
  if (subject.slot.name.empty() && !generated.empty()) subject.slot.name = generated + "00000";
  if (subject.slot.name.empty()) {
    return Bad(location.file, location.at, kind + " lacks metadata.name");
  }
  subject.object = ObjectForPeople(subject.slot);
  subject.apart = subject.slot.group == kCheckGroup;
  if (DepthOf(object) > kItemDepthMax) {
    return Bad(location.file, location.at,
               "nested deeper than " + std::to_string(kItemDepthMax) + " levels");
  }
  const Document document = ReadDocument(object);
  ObjectFacts facts = Identify(document.root(), {subject.slot.group, kind}, policy.identity);
  facts.slot = subject.slot;
  const YamlNode* const metadata = FindNode(object, {"metadata"});
  for (DeclaredResource& resource : facts.resources) {
    subject.declared.push_back(
        DeclaredAt(resource, FindName(object, entry, resource.name), location.at, metadata));
  }
  JudgeHere(object, facts, subject);
  subject.known_kind = subject.apart || facts.known_kind;
  const auto [first, is_new] = slots.try_emplace(subject.slot, subjects.size());
  // Each creation by generateName is another object.
  if (!is_new && generated.empty()) {
    CheckFinding twice;
    twice.severity = CheckSeverity::kWarning;
    twice.rule = "input";
    twice.location = location;
    twice.object = subject.object;
    twice.cause = OneLine(subject.object + " appears twice in the input, first at " +
                              ForPeople(subjects[first->second].location),
                          kFindingTextMax);
    twice.remedy = "Keep one: whichever is applied last wins.";
    subject.own.push_back(std::move(twice));
  }
  std::string json = RequestItem(object, subject.slot);
  subjects.push_back(std::move(subject));
  return Enqueue(subjects.size() - 1, object, std::move(json));
}

// Adds the findings of rules that need no registry.
void Checker::Impl::JudgeHere(const YamlNode& object, const ObjectFacts& facts,
                              Subject& subject) const {
  const Document document = ReadDocument(object);
  const Wording wording{.disclosure = policy.disclosure,
                        .public_url = policy.public_url,
                        .catalogue = policy.catalogue.get(),
                        .object = &facts,
                        .root = &facts.slot};
  const auto add = [&](const Finding& finding, const YamlLocation& at) {
    CheckFinding out = FromRule(finding);
    out.location = {subject.location.file, subject.location.source, at};
    out.object = subject.object;
    subject.local.push_back(std::move(out));
  };
  const KindEntry* entry = policy.catalogue->FindKind(subject.slot.group, subject.slot.kind);
  for (const BadName& bad : facts.bad_names) {
    add(BadResourceName(bad, Mode::kEnforce, wording),
        FindName(object, entry, bad.shown)->location);
  }
  for (const DeclaredResource& resource : facts.resources) {
    if (resource.partial) add(UnclearDeclaration(resource, wording), subject.location.at);
  }
  if (!facts.name_finding.empty()) add(UnclearName(facts, wording), subject.location.at);
  if (policy.names == nullptr || facts.resources.empty()) return;
  const NameEvidence evidence = ReadEvidence(document.root(), facts, policy);
  const RuleCase c{
      .policy = &policy, .object = &facts, .evidence = &evidence, .root = &facts.slot, .now = now};
  for (const Finding& finding : JudgeNames(c)) {
    YamlLocation at = subject.location.at;
    for (const Declared& declared : subject.declared) {
      const std::string quoted = "\"" + declared.resource.name + "\"";
      if (finding.resource.find(quoted) != std::string::npos) at = declared.location;
    }
    add(finding, at);
  }
}

Result<void> Checker::Impl::Enqueue(std::size_t subject, YamlNode object, std::string json) {
  // A registry that did not answer once gets no second wait.
  if (registry == nullptr || !report.unreachable.empty()) return {};
  if (json.size() > kItemBytesMax) {
    return Bad(subjects[subject].location.file, subjects[subject].location.at,
               "is larger than 900 KiB");
  }
  const std::string& ns = subjects[subject].slot.ns;
  const bool is_full = batch.size() == kBatchItemsMax ||
                       batch_bytes + json.size() > kBatchBytesMax ||
                       (batch_namespaces.size() == kBatchNamespacesMax &&
                        batch_namespaces.find(ns) == batch_namespaces.end());
  if (is_full) TRUCE_RETURN_IF_ERROR(Flush());
  batch_bytes += json.size() + 1;
  batch_namespaces.insert(ns);
  batch.push_back({subject, std::move(object), std::move(json)});
  return {};
}

Result<void> Checker::Impl::Flush() {
  if (batch.empty()) return {};
  std::string body = "{\"items\":[";
  for (const Pending& pending : batch) {
    if (!body.ends_with('[')) body += ',';
    body += pending.json;
  }
  body += "]}";
  std::vector<AnsweredItem> answers;
  if (report.unreachable.empty()) {
    const Result<std::string> answer = registry->Ask(body);
    if (answer.ok()) {
      Result<std::vector<AnsweredItem>> items = ReadAnswer(answer.value(), batch.size());
      if (items.ok()) {
        answers = std::move(items).value();
      } else {
        report.unreachable = items.error().message;
      }
    } else if (answer.error().code == ErrorCode::kInvalidArgument) {
      return answer.error();
    } else {
      report.unreachable = OneLine(answer.error().message, kFindingTextMax);
      report.turned_away = answer.error().code == ErrorCode::kConflict;
    }
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!answers.empty()) TakeAnswer(batch[i], std::move(answers[i]));
  }
  batch.clear();
  batch_namespaces.clear();
  batch_bytes = 0;
  return {};
}

void Checker::Impl::TakeAnswer(Pending& pending, AnsweredItem answer) {
  Subject& subject = subjects[pending.subject];
  subject.answered = true;
  subject.known_kind = subject.known_kind || answer.knows_kind || !answer.tells_declarations;
  const bool is_values = pending.object.kind != YamlNode::Kind::kMapping ||
                         pending.object.Find("apiVersion") == nullptr;
  const KindEntry* entry = policy.catalogue->FindKind(subject.slot.group, subject.slot.kind);
  if (!answer.tells_declarations) {
    is_blind = is_blind || subject.asks_values || !entry;
  } else if (subject.asks_values) {
    subject.declared = DeclaredIn(pending.object, std::move(answer.declares));
    for (Declared& declared : subject.declared) SetSure(declared.resource, *policy.catalogue);
  } else if (!is_values) {
    subject.declared.clear();
    for (DeclaredResource& resource : answer.declares) {
      SetSure(resource, *policy.catalogue);
      const YamlNode* node = FindName(pending.object, entry, resource.name);
      subject.declared.push_back(DeclaredAt(std::move(resource), node, subject.location.at,
                                            FindNode(pending.object, {"metadata"})));
    }
  }
  for (CheckFinding& finding : answer.findings) {
    finding.object = subject.object;
    finding.location = subject.location;
    const std::string_view name = QuotedIn(finding.resource);
    if (subject.declared.empty() && !name.empty()) {
      finding.location.at = FindName(pending.object, entry, name)->location;
    }
    for (const Declared& declared : subject.declared) {
      const bool same_key = !finding.key.empty() && finding.key == declared.resource.key().text;
      const bool same_name =
          finding.key.empty() && NamesIt(finding.resource, declared.resource.name);
      if (!same_key && !same_name) continue;
      finding.location.at = declared.location;
      break;
    }
    subject.answers.push_back(std::move(finding));
  }
}

// One subject against what came before: a resource is managed by one declaration.
void Checker::Impl::Compare(std::size_t index,
                            std::map<std::string, std::pair<std::size_t, std::size_t>>& seen) {
  Subject& subject = subjects[index];
  for (std::size_t i = 0; i < subject.declared.size(); ++i) {
    const Declared& declared = subject.declared[i];
    const DeclaredResource& resource = declared.resource;
    if (resource.key().empty() || resource.intent == Intent::kObserves) continue;
    const auto [found, is_new] = seen.try_emplace(resource.key().text, index, i);
    const auto [other_index, other_i] = found->second;
    const Subject& other = subjects[other_index];
    // One object may tell a resource by several fields; values that name it twice are two claims.
    if (is_new || (other_index == index && !subject.apart)) continue;
    // A repeated object has a finding of its own.
    if (other_index != index && other.slot == subject.slot) continue;
    CheckLocation first = other.location;
    first.at = other.declared[other_i].location;
    CheckFinding finding;
    finding.severity = resource.sure ? CheckSeverity::kError : CheckSeverity::kWarning;
    finding.rule = Name(Rule::kDuplicateOwnership);
    finding.location = {subject.location.file, subject.location.source, declared.location};
    finding.object = subject.object;
    finding.resource = ResourceForPeople(resource);
    finding.cause = OneLine(finding.resource + " is declared twice in the input; first by " +
                                other.object + " at " + ForPeople(first),
                            kFindingTextMax);
    finding.remedy = "Give each its own name, or declare it once.";
    finding.key = resource.key().text;
    subject.own.push_back(std::move(finding));
  }
}

void Checker::Impl::CompareAll() {
  std::map<std::string, std::pair<std::size_t, std::size_t>> seen;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (subjects[i].apart) {
      std::map<std::string, std::pair<std::size_t, std::size_t>> alone;
      Compare(i, alone);
    } else {
      Compare(i, seen);
    }
  }
}

// Says which objects were passed over, of kinds that nobody who was asked knows.
void Checker::Impl::NameUnknownKinds() {
  // The registry may know more than this machine does.
  if (!report.unreachable.empty()) return;
  std::set<std::string> kinds;
  bool has_objects = false;  // of Kubernetes
  for (const Subject& subject : subjects) {
    if (subject.known_kind) continue;
    has_objects = has_objects || !subject.slot.group.empty();
    ++report.unknown_objects;
    kinds.insert(KindForPeople(subject.slot.kind, subject.slot.group));
  }
  if (kinds.empty()) return;
  CheckFinding note;
  note.severity = CheckSeverity::kNote;
  note.rule = "unknown-kind";
  note.cause = Counted(report.unknown_objects, "object of a kind", "objects of kinds") +
               " Truce does not know: ";
  std::size_t named = 0;
  for (const std::string& kind : kinds) {
    if (named == kKindsNamedMax) {
      note.cause.append(" and ").append(std::to_string(kinds.size() - named)).append(" more");
      break;
    }
    if (named++ > 0) note.cause.append(", ");
    note.cause.append(OneLine(kind, kKindTextMax));
  }
  note.remedy = has_objects ? "Passed over. If one declares a cloud resource, a mapping must say "
                              "which field names it."
                            : "Passed over. `truce types` lists what Truce knows.";
  report.findings.push_back(std::move(note));
}

void Checker::Impl::Collect() {
  for (Subject& subject : subjects) {
    for (Declared& declared : subject.declared) {
      if (!declared.written.empty()) subject.own.push_back(PlainScalar(subject, declared));
      CheckLocation location = subject.location;
      location.at = declared.location;
      report.declarations.push_back({std::move(location), subject.object,
                                     declared.resource.identity.type, declared.resource.name,
                                     declared.resource.key().text,
                                     std::string(Name(declared.resource.intent))});
    }
    std::vector<CheckFinding>& rules = subject.answered ? subject.answers : subject.local;
    for (std::vector<CheckFinding>* list : {&rules, &subject.own}) {
      for (CheckFinding& finding : *list) report.findings.push_back(std::move(finding));
    }
  }
  for (CheckFinding& note : notes) report.findings.push_back(std::move(note));
  NameUnknownKinds();
  if (!report.declarations.empty() || is_blind || has_plans) return;
  report.findings.push_back(
      {.severity = CheckSeverity::kWarning,
       .rule = "no-declaration",
       .cause = "nothing in the input declares a cloud resource that Truce knows",
       .remedy = "If it should: a kind of your own (a claim) and a chart's values declare nothing "
                 "until a "
                 "mapping rule says which field names what."});
}

Checker::Checker(CheckSettings settings, const AdmissionPolicy& policy, CheckRegistry* registry,
                 Timestamp now)
    : impl_(std::make_unique<Impl>(std::move(settings), policy, registry, now)) {}

Checker::~Checker() = default;

Result<void> Checker::Add(const Manifest& manifest, const std::string& file) {
  return impl_->AddObject(manifest.root, {file, manifest.source, manifest.root.location});
}

Result<void> Checker::AddValues(const YamlNode& values, const std::string& file) {
  const std::string& mapping = impl_->settings.mapping;
  const MappingRule* rule =
      mapping.empty() ? impl_->policy.identity.mappings.Find("", "", impl_->settings.ns) : nullptr;
  if (rule == nullptr && impl_->registry == nullptr) {
    return Error{ErrorCode::kInvalidArgument,
                 "no mapping rule says which values declare what; name a configuration file with "
                 "--config whose mappings have one with chartValues: true"};
  }
  if (values.kind != YamlNode::Kind::kMapping) {
    return Bad(file, values.location, "values must be a mapping");
  }
  ++impl_->report.documents;
  Subject subject;
  subject.location = {file, {}, values.location};
  subject.apart = true;
  subject.slot = {.cluster = {},
                  .group = std::string(kCheckGroup),
                  .kind = std::string(kCheckKind),
                  .ns = impl_->settings.ns,
                  .name = "values"};
  if (rule != nullptr) return impl_->AddReadValues(values, *rule, std::move(subject));
  subject.asks_values = true;
  subject.object = ValuesForPeople(impl_->settings.service);
  const std::string spec = SpecOfValues(values, impl_->settings.service, mapping);
  std::string json = CheckItem(subject.slot, spec);
  impl_->subjects.push_back(std::move(subject));
  return impl_->Enqueue(impl_->subjects.size() - 1, values, std::move(json));
}

// Values that a rule at hand reads.
Result<void> Checker::Impl::AddReadValues(const YamlNode& values, const MappingRule& rule,
                                          Subject subject) {
  const Document document = ReadDocument(values);
  MappedFacts mapped = ReadMapping(document.root(), rule, *policy.catalogue);
  const std::string service = settings.service.empty() ? mapped.service : settings.service;
  subject.object = ValuesForPeople(service);
  subject.declared = DeclaredIn(values, std::move(mapped.resources));
  ObjectFacts facts;
  facts.slot = subject.slot;
  facts.service = service;
  facts.known_kind = true;
  facts.bad_names = std::move(mapped.bad_names);
  for (const Declared& declared : subject.declared) facts.resources.push_back(declared.resource);
  JudgeHere(values, facts, subject);
  std::string json = CheckItem(subject.slot, SpecOfDeclared(service, facts.resources));
  subjects.push_back(std::move(subject));
  return Enqueue(subjects.size() - 1, values, std::move(json));
}

// A resource that is no object of Kubernetes: only its names are asked about.
Result<void> Checker::Impl::AddPlanned(const PlannedResource& planned, const std::string& file) {
  Subject subject;
  subject.location = {file, {}, planned.at};
  subject.object = planned.address;
  subject.known_kind = planned.known_kind;
  // Two stacks may give their resources one address.
  subject.slot = {file, {}, planned.kind, {}, planned.address};
  if (!planned.unclear.empty()) {
    CheckFinding unclear;
    unclear.severity = CheckSeverity::kWarning;
    unclear.rule = Name(Rule::kUnclearDeclaration);
    unclear.location = subject.location;
    unclear.object = subject.object;
    unclear.cause =
        OneLine("Truce cannot tell what " + planned.address + " declares: " + planned.unclear,
                kFindingTextMax);
    unclear.remedy = planned.remedy.empty()
                         ? "Give it a name that is known before, or ask again once it is"
                         : planned.remedy;
    unclear.remedy += ": until then a second owner is not found.";
    subject.own.push_back(std::move(unclear));
  }
  ObjectFacts facts;
  facts.slot = {{}, std::string(kCheckGroup), std::string(kCheckKind), settings.ns, "planned"};
  facts.service = settings.service;
  facts.known_kind = true;
  for (const DeclaredResource& resource : planned.declares) {
    facts.resources.push_back(resource);
    subject.declared.push_back(DeclaredAt(resource, nullptr, planned.at, nullptr));
  }
  if (planned.declares.empty()) {
    subjects.push_back(std::move(subject));
    return {};
  }
  YamlNode nothing;
  nothing.kind = YamlNode::Kind::kMapping;
  JudgeHere(nothing, facts, subject);
  subject.slot.ns = settings.ns;
  std::string json =
      CheckItem(facts.slot, SpecOfDeclared(settings.service, facts.resources, settings.source));
  subjects.push_back(std::move(subject));
  return Enqueue(subjects.size() - 1, std::move(nothing), std::move(json));
}

Result<void> Checker::AddPlanned(const Planned& planned, const std::string& file) {
  ++impl_->report.documents;
  impl_->has_plans = true;
  for (const std::string& note : planned.notes) AddNote(file, note);
  for (const PlannedResource& each : planned.resources) {
    TRUCE_RETURN_IF_ERROR(impl_->AddPlanned(each, file));
  }
  return {};
}

void Checker::AddNote(const std::string& file, const std::string& text) {
  CheckFinding note;
  note.severity = CheckSeverity::kNote;
  note.rule = "input";
  note.location.file = file;
  note.cause = OneLine(text, kFindingTextMax);
  impl_->notes.push_back(std::move(note));
}

Result<CheckReport> Checker::Finish() {
  TRUCE_RETURN_IF_ERROR(impl_->Flush());
  impl_->CompareAll();
  impl_->Collect();
  return std::move(impl_->report);
}

}  // namespace truce
