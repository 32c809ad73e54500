// Reports for programs: JSON, JUnit's XML, SARIF 2.1.0.
#include <map>
#include <set>
#include <string>

#include "registry/base/text.h"
#include "webhook/check/report.h"
#include "webhook/check/rule_help.h"
#include "webhook/wire/json_writer.h"
#include "webhook/wire/markup.h"

namespace truce {
namespace {

// An object as the value of a member.
template <typename... Members>
auto ObjectOf(const Members&... members) {
  return [&](JsonWriter& json) { json.Object(members...); };
}

void WriteFileLocation(const CheckLocation& location, JsonWriter& json) {
  json.Fields("file", location.file).Given("source", location.source);
  json.Given("line", location.at.line);
  if (location.at.line > 0) json.Fields("column", location.at.column);
}

// Control characters other than line ends do not exist in XML 1.0.
std::string Xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "&#10;";  // a parser makes a space of a line end in an attribute
    } else {
      AppendToMarkup(static_cast<unsigned char>(c) < 0x20 ? ' ' : c, out);
    }
  }
  return out;
}

std::string BodyOf(const CheckFinding& finding) {
  std::string text = finding.cause;
  for (const std::string* each : {&finding.remedy, &finding.link}) {
    if (!each->empty()) text.append("\n").append(*each);
  }
  return text;
}

// Of one object, or of the input as a whole.
struct TestCase {
  CheckLocation location;
  std::string object;
  std::vector<const CheckFinding*> findings;
};

// Objects that declare something or have a finding, in order of input.
std::vector<TestCase> CasesOf(const CheckReport& report) {
  std::vector<TestCase> cases;
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  const auto at = [&](const CheckLocation& location, const std::string& object) -> TestCase& {
    const auto [found, is_new] = index.try_emplace({location.file, object}, cases.size());
    if (is_new) cases.push_back({location, object, {}});
    return cases[found->second];
  };
  for (const CheckedDeclaration& each : report.declarations) at(each.location, each.object);
  for (const CheckFinding& finding : report.findings) {
    at(finding.location, finding.object).findings.push_back(&finding);
  }
  return cases;
}

std::string Element(const TestCase& test) {
  std::string out = "    <testcase classname=\"" +
                    Xml(test.location.file.empty() ? "truce check" : test.location.file) +
                    "\" name=\"" + Xml(test.object.empty() ? "input" : test.object) + "\">\n";
  std::string beside;
  for (const CheckFinding* finding : test.findings) {
    const std::string where = ForPeople(finding->location);
    if (finding->severity == CheckSeverity::kError) {
      out += "      <failure type=\"" + Xml(finding->rule) + "\" message=\"" + Xml(finding->cause) +
             "\">" + Xml(where + "\n" + BodyOf(*finding)) + "</failure>\n";
    } else {
      beside +=
          std::string(Name(finding->severity)) + ": " + where + ": " + BodyOf(*finding) + "\n";
    }
  }
  if (!beside.empty()) out += "      <system-out>" + Xml(beside) + "</system-out>\n";
  return out + "    </testcase>\n";
}

// Characters that need no escape in a path of a URI (RFC 3986).
constexpr ByteSet kInUriPath = AlnumAnd("-._~/!$&'()*+,;=@");

void WriteLocation(const CheckFinding& finding, JsonWriter& json) {
  const CheckLocation& location = finding.in_repository;
  std::string uri;
  AppendPercentEncoded<kInUriPath>(location.file, uri);
  const auto write = [&](JsonWriter& out) {
    out.BeginObject().Fields("artifactLocation", ObjectOf("uri", uri));
    if (location.at.line > 0) {
      out.Fields("region",
                 ObjectOf("startLine", location.at.line, "startColumn", location.at.column));
    }
    out.EndObject();
  };
  json.BeginObject().Fields("physicalLocation", write);
  if (!finding.object.empty()) {
    json.Key("logicalLocations").BeginArray();
    json.Object("fullyQualifiedName", finding.object);
    json.EndArray();
  }
  json.EndObject();
}

void WriteResult(const CheckFinding& finding, JsonWriter& json) {
  json.BeginObject().Fields("ruleId", finding.rule, "level", Name(finding.severity), "message",
                            ObjectOf("text", BodyOf(finding)));
  json.Key("locations").BeginArray();
  if (!finding.in_repository.file.empty()) WriteLocation(finding, json);
  json.EndArray();
  if (!finding.key.empty()) {
    json.Fields("partialFingerprints", ObjectOf("resourceKey/v1", finding.key));
  }
  json.EndObject();
}

// Code scanning shows this beside each finding of the rule.
void WriteRule(const std::string& rule, JsonWriter& json) {
  const RuleHelp help = HelpOf(rule);
  json.Object("id", rule, "shortDescription", ObjectOf("text", help.about), "fullDescription",
              ObjectOf("text", help.why.empty() ? help.about : help.why), "help",
              ObjectOf("text", help.help));
}

}  // namespace

std::string JsonReport(const CheckReport& report) {
  JsonWriter json;
  json.BeginObject().Fields("apiVersion", "truce.dev/v1alpha1", "kind", "CheckReport", "verdict",
                            Name(VerdictOf(report)), "message", Headline(report), "registry",
                            report.registry, "unreachable", report.unreachable, "documents",
                            report.documents, "unknownObjects", report.unknown_objects);
  json.ListField("declarations", report.declarations,
                 [](const CheckedDeclaration& each, JsonWriter& out) {
                   out.BeginObject().Fields("type", each.type, "name", each.name, "key", each.key,
                                            "intent", each.intent, "object", each.object);
                   WriteFileLocation(each.location, out);
                   out.EndObject();
                 });
  json.ListField("findings", report.findings, [](const CheckFinding& each, JsonWriter& out) {
    out.BeginObject().Fields("severity", Name(each.severity), "rule", each.rule, "object",
                             each.object, "resource", each.resource, "cause", each.cause, "remedy",
                             each.remedy, "link", each.link, "key", each.key);
    WriteFileLocation(each.location, out);
    out.EndObject();
  });
  return json.EndObject().Take() + "\n";
}

std::string JunitReport(const CheckReport& report) {
  const std::vector<TestCase> cases = CasesOf(report);
  std::size_t failed = 0;
  std::string body;
  for (const TestCase& test : cases) {
    body += Element(test);
    for (const CheckFinding* finding : test.findings) {
      if (finding->severity != CheckSeverity::kError) continue;
      ++failed;
      break;
    }
  }
  const bool unknown = !report.unreachable.empty();
  if (unknown) {
    body += "    <testcase classname=\"truce check\" name=\"registry\">\n      <error message=\"" +
            Xml(report.unreachable) + "\"/>\n    </testcase>\n";
  }
  const std::string counts = " tests=\"" + std::to_string(cases.size() + (unknown ? 1 : 0)) +
                             "\" failures=\"" + std::to_string(failed) + "\" errors=\"" +
                             (unknown ? "1" : "0") + "\"";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts +
         ">\n  <testsuite name=\"truce check\"" + counts + ">\n" + body +
         "  </testsuite>\n</testsuites>\n";
}

std::string SarifReport(const CheckReport& report) {
  std::set<std::string> rules;
  for (const CheckFinding& finding : report.findings) rules.insert(finding.rule);
  const auto driver = [&](JsonWriter& json) {
    json.BeginObject().Fields("name", "truce check").ListField("rules", rules, WriteRule);
    json.EndObject();
  };
  const auto invocations = [&](JsonWriter& json) {
    json.BeginArray().BeginObject();
    json.Fields("executionSuccessful", report.unreachable.empty() && !report.unread);
    if (!report.unreachable.empty()) {
      json.Key("toolExecutionNotifications").BeginArray();
      json.Object("level", "error", "message", ObjectOf("text", report.unreachable)).EndArray();
    }
    json.EndObject().EndArray();
  };
  const auto runs = [&](JsonWriter& json) {
    json.BeginArray().BeginObject();
    json.Fields("tool", ObjectOf("driver", driver), "invocations", invocations);
    json.ListField("results", report.findings, WriteResult).EndObject().EndArray();
  };
  JsonWriter json;
  json.Object("$schema", "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0",
              "runs", runs);
  return json.Take() + "\n";
}

}  // namespace truce
