#include "policies/names/naming.h"

#include <re2/re2.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "policies/names/naming_form.h"
#include "policies/names/naming_suggestion.h"
#include "registry/base/counted.h"
#include "registry/base/one_line.h"
#include "registry/catalogue/explain.h"

namespace truce {
namespace {

constexpr std::array<std::string_view, kNamingVariableCount> kNames = {
    "service", "env", "type", "team", "region", "account", "suffix"};
constexpr std::array<std::string_view, 4> kEnvironments = {"dev", "test", "staging", "prod"};

constexpr std::size_t kPatternBytesMax = 512;
constexpr std::int64_t kPatternMemoryMax = 1 << 18;  // a pattern that needs more is no name's

// The form of a value while configuration says nothing.
std::string_view DefaultPattern(NamingVariable variable) {
  switch (variable) {
    case NamingVariable::kEnv: return "[a-z][a-z0-9]*";
    case NamingVariable::kAccount: return "[a-z0-9]+";
    case NamingVariable::kService:
    case NamingVariable::kType:
    case NamingVariable::kTeam: return "[a-z][a-z0-9]*(-[a-z0-9]+)*";
    case NamingVariable::kRegion:
    case NamingVariable::kSuffix: break;
  }
  return "[a-z0-9]+(-[a-z0-9]+)*";
}

// Longest value that room is kept for when a value behind it must be shortened.
std::size_t UsualLength(NamingVariable variable) {
  switch (variable) {
    case NamingVariable::kRegion: return 14;  // ap-southeast-1
    case NamingVariable::kAccount: return 12;
    case NamingVariable::kService:
    case NamingVariable::kTeam: return 12;
    case NamingVariable::kEnv:
    case NamingVariable::kType:
    case NamingVariable::kSuffix: break;
  }
  return 8;
}

Error Fault(std::string_view path, std::string_view what) {
  return Error{ErrorCode::kInvalidArgument, std::string(path).append(": ").append(what)};
}

Result<std::unique_ptr<RE2>> CompilePattern(std::string_view text, const std::string& path,
                                            int groups) {
  if (text.size() > kPatternBytesMax) return Fault(path, "is longer than 512 bytes; shorten it");
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemoryMax);
  options.set_never_nl(false);
  auto pattern = std::make_unique<RE2>(re2::StringPiece(text.data(), text.size()), options);
  if (!pattern->ok()) {
    return Fault(path, "RE2 refuses the pattern (" + OneLine(pattern->error(), 120) +
                           "); write one in RE2's syntax, without look-ahead, back-references or "
                           "great counts");
  }
  if (groups >= 0 && pattern->NumberOfCapturingGroups() != groups) {
    return Fault(path, "needs exactly one (group), which is the value");
  }
  return pattern;
}

bool IsLowered(const TypeSpec& type, std::string_view part) {
  for (const std::vector<KeyPart>* parts : {&type.parts, &type.extra}) {
    for (const KeyPart& other : *parts) {
      if (other.name != part) continue;
      return std::any_of(other.normalisers.begin(), other.normalisers.end(), [](const auto& n) {
        return n.op == Normaliser::Op::kLower || n.op == Normaliser::Op::kDns;
      });
    }
  }
  return false;
}

struct Source {
  NamingSource spec;
  std::unique_ptr<RE2> pattern;  // of kNamespace and kProviderConfig
};

struct Variable {
  NamingVariableSpec spec;
  std::vector<std::string> vocabulary;  // longest first: "staging" before "stag"
  std::unique_ptr<RE2> pattern;
  std::vector<Source> sources;
};
using Variables = std::array<Variable, kNamingVariableCount>;

std::string_view Captured(std::string_view text, const RE2& pattern) {
  re2::StringPiece value;
  const bool found =
      !text.empty() && RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern, &value);
  return found ? std::string_view(value.data(), value.size()) : std::string_view();
}

struct SourcedText {
  std::string_view text;
  std::string from;  // for people: "from label env"
};

SourcedText TextOf(const Source& source, const NameFacts& facts) {
  const std::string& text = source.spec.text;
  switch (source.spec.kind) {
    case NamingSource::Kind::kDeclared:
      if (facts.service_from.empty()) return {facts.service, "your service"};
      return {facts.service, "from " + std::string(facts.service_from)};
    case NamingSource::Kind::kLabel:
      for (const auto& [key, value] : facts.labels) {
        if (key == text) return {value, "from label " + text};
      }
      return {};
    case NamingSource::Kind::kNamespace:
      return {Captured(facts.ns, *source.pattern), "from namespace " + std::string(facts.ns)};
    case NamingSource::Kind::kProviderConfig:
      return {Captured(facts.provider_config, *source.pattern),
              "from ProviderConfig " + std::string(facts.provider_config)};
    case NamingSource::Kind::kFixed: return {text, {}};
  }
  return {};
}

}  // namespace

std::string_view Name(NamingVariable variable) {
  return kNames[static_cast<std::size_t>(variable)];
}

std::optional<NamingVariable> NamingVariableFromName(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<NamingVariable>(found - kNames.begin());
}

struct NamingConvention::Impl {
  std::shared_ptr<const AwsNames> aws;
  Variables variables;
  std::vector<std::pair<std::string, TypeForm>> forms;  // sorted by type
  std::vector<std::string> labels;

  const TypeForm* Find(std::string_view type) const {
    const auto found = std::lower_bound(
        forms.begin(), forms.end(), type,
        [](const auto& form, std::string_view wanted) { return form.first < wanted; });
    return found == forms.end() || found->first != type ? nullptr : &found->second;
  }

  const Variable& Of(NamingVariable variable) const {
    return variables[static_cast<std::size_t>(variable)];
  }

  // The value that the object's surroundings demand.
  SourcedText Expected(NamingVariable variable, const NameFacts& facts,
                       const TypeForm& form) const {
    if (variable == NamingVariable::kType) return {form.abbreviation, {}};
    for (const Source& source : Of(variable).sources) {
      SourcedText value = TextOf(source, facts);
      if (!value.text.empty()) return value;
    }
    if (variable == NamingVariable::kRegion) return {facts.region, "from the object's region"};
    if (variable == NamingVariable::kAccount) return {facts.account, "from the object's account"};
    return {};
  }

  Wanted WantedOf(NamingVariable variable, const NameFacts& facts, const TypeForm& form) const {
    const Variable& rules = Of(variable);
    Wanted wanted;
    wanted.pattern = rules.pattern.get();
    if (!rules.vocabulary.empty() && variable != NamingVariable::kType) {
      wanted.vocabulary = &rules.vocabulary;
      wanted.listed = &rules.spec.values;
    }
    SourcedText value = Expected(variable, facts, form);
    if (value.text.empty()) return wanted;
    const auto spelt = rules.spec.spelt.find(std::string(value.text));
    const std::string_view text =
        spelt == rules.spec.spelt.end() || variable == NamingVariable::kType ? value.text
                                                                             : spelt->second;
    wanted.from = std::move(value.from);
    const auto& words = rules.spec.values;
    // A source that gives a word which no name may hold demands nothing.
    if (wanted.vocabulary != nullptr &&
        std::find(words.begin(), words.end(), text) == words.end()) {
      return wanted;
    }
    wanted.known.push_back(form.Write(text));
    const std::size_t room = form.room[static_cast<std::size_t>(variable)];
    if (wanted.known.front().size() > room) {
      std::string cut = Shortened(wanted.known.front(), room, form.separator);
      if (!cut.empty()) wanted.known.push_back(std::move(cut));
    }
    if (wanted.known.front().empty()) wanted.known.clear();
    return wanted;
  }

  WantedValues AllWanted(const NameFacts& facts, const TypeForm& form) const {
    WantedValues wanted;
    for (const FormElement& element : form.ways.back()) {
      if (element.is_literal()) continue;
      wanted[static_cast<std::size_t>(element.variable)] = WantedOf(element.variable, facts, form);
    }
    return wanted;
  }
};

namespace {

// Compiles a spec; errors carry the path of what is wrong.
class Compiler {
 public:
  Compiler(const NamingSpec& spec, const Catalogue& catalogue, const AwsNames& aws)
      : spec_(spec), catalogue_(catalogue), aws_(aws) {}

  Result<void> CompileVariables(Variables& out, std::vector<std::string>& labels) {
    for (std::size_t i = 0; i < kNamingVariableCount; ++i) {
      const auto variable = static_cast<NamingVariable>(i);
      const auto given = spec_.variables.find(variable);
      if (given != spec_.variables.end()) out[i].spec = given->second;
      TRUCE_RETURN_IF_ERROR(CompileVariable(variable, out[i], labels));
    }
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    return {};
  }

  Result<void> CompileForms(const Variables& variables,
                            std::vector<std::pair<std::string, TypeForm>>& out) {
    TRUCE_RETURN_IF_ERROR(CheckTypes());
    for (const auto& [type, rule] : aws_.rules()) {
      const bool listed =
          std::find(spec_.types.begin(), spec_.types.end(), type) != spec_.types.end();
      const bool applies = spec_.types.empty()
                               ? !rule.abbreviation().empty() || spec_.forms.count(type) != 0
                               : listed;
      if (!applies) continue;
      TRUCE_ASSIGN_OR_RETURN(TypeForm form, CompileForm(type, rule, variables));
      out.emplace_back(type, std::move(form));
    }
    return {};
  }

 private:
  static std::string PathOf(NamingVariable variable, std::string_view key) {
    return "naming.variables." + std::string(Name(variable)) + "." + std::string(key);
  }

  Result<void> CompileVariable(NamingVariable variable, Variable& out,
                               std::vector<std::string>& labels) const {
    NamingVariableSpec& spec = out.spec;
    if (variable == NamingVariable::kEnv && spec.values.empty() && spec.pattern.empty()) {
      spec.values.assign(kEnvironments.begin(), kEnvironments.end());
    }
    if (variable == NamingVariable::kService && spec.sources.empty()) {
      spec.sources.push_back({NamingSource::Kind::kDeclared, {}});
    }
    TRUCE_ASSIGN_OR_RETURN(
        out.pattern, CompilePattern(spec.pattern.empty() ? DefaultPattern(variable) : spec.pattern,
                                    PathOf(variable, "pattern"), -1));
    for (const std::string& value : spec.values) {
      if (spec.pattern.empty() || RE2::FullMatch(value, *out.pattern)) continue;
      return Fault(PathOf(variable, "values"),
                   "'" + value + "' does not match the pattern beside it; correct one of the two");
    }
    for (const auto& [from, to] : spec.spelt) {
      const bool known = variable == NamingVariable::kType || spec.values.empty() ||
                         std::find(spec.values.begin(), spec.values.end(), to) != spec.values.end();
      if (known) continue;
      return Fault(PathOf(variable, "map") + "." + from,
                   "'" + to + "' is not among the values; add it there");
    }
    out.vocabulary = spec.values;
    std::sort(out.vocabulary.begin(), out.vocabulary.end(),
              [](const std::string& a, const std::string& b) {
                return a.size() != b.size() ? a.size() > b.size() : a < b;
              });
    for (const NamingSource& source : spec.sources) {
      Source compiled{source, nullptr};
      if (source.kind == NamingSource::Kind::kNamespace ||
          source.kind == NamingSource::Kind::kProviderConfig) {
        TRUCE_ASSIGN_OR_RETURN(compiled.pattern,
                               CompilePattern(source.text, PathOf(variable, "from"), 1));
      }
      if (source.kind == NamingSource::Kind::kLabel) labels.push_back(source.text);
      out.sources.push_back(std::move(compiled));
    }
    return {};
  }

  Result<void> CheckType(const std::string& type, const std::string& path) const {
    if (catalogue_.FindType(type) == nullptr) {
      return Fault(path, NoType(type, catalogue_));
    }
    if (aws_.Find(type) == nullptr) {
      return Fault(path, type + " has no name that users give; remove it");
    }
    return {};
  }

  Result<void> CheckTypes() const {
    for (const std::string& type : spec_.types) {
      TRUCE_RETURN_IF_ERROR(CheckType(type, "naming.types"));
    }
    for (const auto& [type, form] : spec_.forms) {
      TRUCE_RETURN_IF_ERROR(CheckType(type, "naming.templates." + type));
      if (!spec_.types.empty() &&
          std::find(spec_.types.begin(), spec_.types.end(), type) == spec_.types.end()) {
        return Fault("naming.templates." + type,
                     "the type is not in naming.types; add it there, or remove the template");
      }
    }
    for (const auto& [type, length] : spec_.max_lengths) {
      const std::string path = "naming.maxLengths." + type;
      TRUCE_RETURN_IF_ERROR(CheckType(type, path));
      const std::size_t allowed = aws_.Find(type)->max_length();
      if (allowed != 0 && length > allowed) {
        return Fault(path, "is more than AWS allows, which is " + std::to_string(allowed));
      }
    }
    const auto given = spec_.variables.find(NamingVariable::kType);
    if (given == spec_.variables.end()) return {};
    for (const auto& [type, word] : given->second.spelt) {
      TRUCE_RETURN_IF_ERROR(CheckType(type, "naming.variables.type.map." + type));
    }
    return {};
  }

  Result<TypeForm> CompileForm(const std::string& type, const AwsNameRule& rule,
                               const Variables& variables) const {
    const auto own = spec_.forms.find(type);
    const bool is_own = own != spec_.forms.end();
    const std::string path = is_own ? "naming.templates." + type : "naming.template";
    TypeForm form;
    form.text = is_own ? own->second : spec_.form;
    form.aws = &rule;
    form.lower = IsLowered(*catalogue_.FindType(type), rule.part());
    Result<std::vector<FormElements>> ways = ParseForm(form.text);
    if (!ways.ok()) return Fault(path, ways.error().message);
    form.ways = std::move(ways).value();
    const auto& spelt = variables[static_cast<std::size_t>(NamingVariable::kType)].spec.spelt;
    const auto word = spelt.find(type);
    form.abbreviation = word == spelt.end() ? rule.abbreviation() : word->second;
    const bool uses_type = std::any_of(
        form.ways.back().begin(), form.ways.back().end(), [](const FormElement& element) {
          return !element.is_literal() && element.variable == NamingVariable::kType;
        });
    if (uses_type && form.abbreviation.empty()) {
      return Fault(path, type +
                             " has no abbreviation for {type}; give it one in "
                             "naming.variables.type.map, or a template without {type}");
    }
    const auto length = spec_.max_lengths.find(type);
    form.length_max = length == spec_.max_lengths.end() ? rule.max_length() : length->second;
    form.separator = rule.Writable("a-a") == "a-a" ? "-" : "";
    MakeRoom(form, variables);
    const std::string wrong = Impossible(form, variables);
    if (!wrong.empty()) {
      return Fault(path, "cannot name " + type + ": " + wrong +
                             "; give the type a template of its own in naming.templates, or list "
                             "in naming.types only those that it fits");
    }
    return form;
  }

  // Shortest and longest text of a variable of `form`.
  static std::pair<std::size_t, std::size_t> LengthsOf(NamingVariable variable,
                                                       const TypeForm& form,
                                                       const Variables& variables) {
    if (variable == NamingVariable::kType) {
      return {form.abbreviation.size(), form.abbreviation.size()};
    }
    const NamingVariableSpec& spec = variables[static_cast<std::size_t>(variable)].spec;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    std::size_t most = 0;
    for (const std::string& value : spec.values) {
      least = std::min(least, value.size());
      most = std::max(most, value.size());
    }
    if (spec.values.empty()) {
      for (const auto& [from, to] : spec.spelt) most = std::max(most, to.size());
    }
    if (most == 0) most = UsualLength(variable);
    return {spec.values.empty() ? 1 : least, most};
  }

  // How long the value may be that gives way when a name would get too long: the first of service,
  // team and suffix.
  static void MakeRoom(TypeForm& form, const Variables& variables) {
    form.room.fill(std::numeric_limits<std::size_t>::max());
    if (form.length_max == 0) return;
    const std::size_t fifo = form.aws->fifo_field().empty() ? 0 : kFifoSuffix.size();
    for (const NamingVariable soft :
         {NamingVariable::kService, NamingVariable::kTeam, NamingVariable::kSuffix}) {
      std::size_t others = fifo;
      bool found = false;
      for (const FormElement& element : form.ways.front()) {
        if (element.is_literal()) {
          others += element.literal.size();
        } else if (element.variable == soft) {
          found = true;
        } else {
          others += LengthsOf(element.variable, form, variables).second;
        }
      }
      if (!found) continue;
      form.room[static_cast<std::size_t>(soft)] =
          others < form.length_max ? form.length_max - others : 0;
      return;
    }
  }

  // Why no name can follow the form, or empty.
  static std::string Impossible(const TypeForm& form, const Variables& variables) {
    std::size_t least = 0;
    std::string sample;
    for (const FormElement& element : form.ways.front()) {
      if (element.is_literal()) {
        least += element.literal.size();
        sample += element.literal;
        continue;
      }
      least += LengthsOf(element.variable, form, variables).first;
      const std::string value = SampleOf(element.variable, form, variables);
      if (value.empty()) return {};  // only its pattern's author knows what a value looks like
      sample += value;
    }
    if (form.length_max != 0 && least > form.length_max) {
      return "its names have at least " + Counted(least, "byte") + ", and " +
             Counted(form.length_max, "is allowed", "are allowed");
    }
    const auto fault = form.aws->FaultOf(sample, std::nullopt);
    if (!fault || fault->warns) return {};
    return "a name such as \"" + sample + "\" " + fault->reason;
  }

  static std::string SampleOf(NamingVariable variable, const TypeForm& form,
                              const Variables& variables) {
    const Variable& rules = variables[static_cast<std::size_t>(variable)];
    if (variable == NamingVariable::kType) return form.Write(form.abbreviation);
    const auto& values = rules.spec.values;
    if (!values.empty()) {
      return form.Write(*std::min_element(
          values.begin(), values.end(),
          [](const std::string& a, const std::string& b) { return a.size() < b.size(); }));
    }
    if (!rules.spec.spelt.empty()) return form.Write(rules.spec.spelt.begin()->second);
    if (variable == NamingVariable::kRegion) return "eu-west-1";
    if (variable == NamingVariable::kAccount) return "123456789012";
    for (const std::string_view text : {"svc", "a", "a1", "abc12345", "1", "SVC"}) {
      if (RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *rules.pattern)) {
        return form.Write(text);
      }
    }
    return {};
  }

  const NamingSpec& spec_;
  const Catalogue& catalogue_;
  const AwsNames& aws_;
};

std::string TooLong(std::size_t bytes, std::size_t allowed) {
  return "is " + std::to_string(bytes) + " characters long, " + std::to_string(bytes - allowed) +
         " too many (limit " + std::to_string(allowed) + ")";
}

}  // namespace

NamingConvention::~NamingConvention() = default;
NamingConvention::NamingConvention(NamingConvention&&) noexcept = default;
NamingConvention& NamingConvention::operator=(NamingConvention&&) noexcept = default;

Result<NamingConvention> NamingConvention::Compile(const NamingSpec& spec,
                                                   const Catalogue& catalogue,
                                                   std::shared_ptr<const AwsNames> aws) {
  auto impl = std::make_unique<Impl>();
  Compiler compiler(spec, catalogue, *aws);
  TRUCE_RETURN_IF_ERROR(compiler.CompileVariables(impl->variables, impl->labels));
  TRUCE_RETURN_IF_ERROR(compiler.CompileForms(impl->variables, impl->forms));
  impl->aws = std::move(aws);
  NamingConvention out;
  out.impl_ = std::move(impl);
  return out;
}

bool NamingConvention::Covers(std::string_view type) const { return impl_->Find(type) != nullptr; }

std::optional<NamingFault> NamingConvention::FaultOf(const NameFacts& facts) const {
  const TypeForm* form = impl_->Find(facts.type);
  if (form == nullptr || facts.name.empty()) return std::nullopt;
  const bool fifo = !form->aws->fifo_field().empty() && facts.name.ends_with(kFifoSuffix);
  // AWS demands this end: it is no part of the convention.
  const std::string_view name =
      fifo ? facts.name.substr(0, facts.name.size() - kFifoSuffix.size()) : facts.name;
  const WantedValues wanted = impl_->AllWanted(facts, *form);
  FormReading best;
  const FormElements* best_way = nullptr;
  for (const FormElements& way : form->ways) {
    FormReading reading = ReadForm(name, way, wanted);
    if (reading.matches) {
      if (form->length_max == 0 || facts.name.size() <= form->length_max) return std::nullopt;
      reading.element = way.size();
    }
    const bool better =
        best_way == nullptr || reading.matches || (!best.matches && reading.begin > best.begin);
    if (!better) continue;
    best = reading;
    best_way = &way;
  }
  NamingFault fault;
  if (best.matches) {
    fault.part = "length";
    fault.expected = TooLong(facts.name.size(), form->length_max);
  } else {
    fault = Explain(name, best, *best_way, wanted);
  }
  fault.form = form->text;
  const bool is_fifo = !form->aws->fifo_field().empty() && facts.fifo.value_or(fifo);
  Suggest({.name = name,
           .form = *form,
           .way = *best_way,
           .reading = best,
           .wanted = wanted,
           .fifo = is_fifo},
          fault);
  return fault;
}

std::span<const std::string> NamingConvention::label_keys() const { return impl_->labels; }

std::string_view NamingConvention::FormOf(std::string_view type) const {
  const TypeForm* form = impl_->Find(type);
  return form == nullptr ? std::string_view() : std::string_view(form->text);
}

}  // namespace truce
