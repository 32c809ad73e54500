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

void WriteFileLocation(const CheckLocation& location, JsonWriter& json) {
  json.Field("file", location.file);
  if (!location.source.empty()) json.Field("source", location.source);
  if (location.at.line == 0) return;
  json.NumberField("line", location.at.line).NumberField("column", location.at.column);
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

// What stands for itself in a path of a URI (RFC 3986).
constexpr ByteSet kInUriPath = AlnumAnd("-._~/!$&'()*+,;=@");

void WriteLocation(const CheckLocation& location, JsonWriter& json) {
  std::string uri;
  AppendPercentEncoded<kInUriPath>(location.file, uri);
  json.BeginObject().Key("physicalLocation").BeginObject();
  json.Key("artifactLocation").BeginObject().Field("uri", uri).EndObject();
  if (location.at.line > 0) {
    json.Key("region")
        .BeginObject()
        .NumberField("startLine", location.at.line)
        .NumberField("startColumn", location.at.column)
        .EndObject();
  }
  json.EndObject().EndObject();
}

void WriteResult(const CheckFinding& finding, JsonWriter& json) {
  json.BeginObject()
      .Field("ruleId", finding.rule)
      .Field("level", Name(finding.severity))
      .Key("message")
      .BeginObject()
      .Field("text", BodyOf(finding))
      .EndObject()
      .Key("locations")
      .BeginArray();
  if (!finding.in_repository.file.empty()) WriteLocation(finding.in_repository, json);
  json.EndArray();
  if (!finding.key.empty()) {
    json.Key("partialFingerprints").BeginObject().Field("resourceKey/v1", finding.key).EndObject();
  }
  json.EndObject();
}

// What code scanning shows beside each finding of the rule.
void WriteRule(const std::string& rule, JsonWriter& json) {
  const RuleHelp help = HelpOf(rule);
  const auto text = [&json](const char* member, const std::string& words) {
    json.Key(member).BeginObject().Field("text", words).EndObject();
  };
  json.BeginObject().Field("id", rule);
  text("shortDescription", std::string(help.about));
  text("fullDescription", std::string(help.why.empty() ? help.about : help.why));
  text("help", std::string(help.help));
  json.EndObject();
}

}  // namespace

std::string JsonReport(const CheckReport& report) {
  JsonWriter json;
  json.BeginObject()
      .Field("apiVersion", "truce.dev/v1alpha1")
      .Field("kind", "CheckReport")
      .Field("verdict", Name(VerdictOf(report)))
      .Field("message", Headline(report))
      .Field("registry", report.registry)
      .Field("unreachable", report.unreachable)
      .NumberField("documents", report.documents)
      .NumberField("unknownObjects", report.unknown_objects);
  json.Key("declarations").BeginArray();
  for (const CheckedDeclaration& each : report.declarations) {
    json.BeginObject().Field("type", each.type).Field("name", each.name).Field("key", each.key);
    json.Field("intent", each.intent).Field("object", each.object);
    WriteFileLocation(each.location, json);
    json.EndObject();
  }
  json.EndArray().Key("findings").BeginArray();
  for (const CheckFinding& each : report.findings) {
    json.BeginObject().Field("severity", Name(each.severity)).Field("rule", each.rule);
    json.Field("object", each.object).Field("resource", each.resource);
    json.Field("cause", each.cause).Field("remedy", each.remedy).Field("link", each.link);
    json.Field("key", each.key);
    WriteFileLocation(each.location, json);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take() + "\n";
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
  JsonWriter json;
  json.BeginObject()
      .Field("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
      .Field("version", "2.1.0")
      .Key("runs")
      .BeginArray()
      .BeginObject();
  json.Key("tool").BeginObject().Key("driver").BeginObject().Field("name", "truce check");
  json.Key("rules").BeginArray();
  for (const std::string& rule : rules) WriteRule(rule, json);
  json.EndArray().EndObject().EndObject();
  json.Key("invocations").BeginArray().BeginObject();
  json.Field("executionSuccessful", report.unreachable.empty() && !report.unread);
  if (!report.unreachable.empty()) {
    json.Key("toolExecutionNotifications").BeginArray().BeginObject().Field("level", "error");
    json.Key("message").BeginObject().Field("text", report.unreachable).EndObject();
    json.EndObject().EndArray();
  }
  json.EndObject().EndArray();
  json.Key("results").BeginArray();
  for (const CheckFinding& finding : report.findings) WriteResult(finding, json);
  json.EndArray().EndObject().EndArray().EndObject();
  return json.Take() + "\n";
}

}  // namespace truce
