#include "webhook/findings/texts/report_quotas.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "policies/aws_quotas.h"
#include "registry/ownership/facts.h"
#include "webhook/wire/text_table.h"

namespace truce {
namespace {

constexpr std::uint64_t kPercent = 100;
constexpr std::uint64_t kBarWidth = 20;

// 100 where it is more; without overflow, whatever the numbers are.
std::uint64_t PercentUsed(const QuotaLine& line) {
  return line.used >= line.quota.max ? kPercent : line.used * kPercent / line.quota.max;
}

std::string BarOf(const QuotaLine& line) {
  const std::uint64_t share = PercentUsed(line);
  const std::uint64_t full = (share * kBarWidth + kPercent - 1) / kPercent;
  return "[" + std::string(full, '#') + std::string(kBarWidth - full, '.') + "]";
}

std::string AwsDefault(std::string_view type) {
  const AwsQuota* aws = AwsQuotaOf(type);
  if (aws == nullptr) return {};
  return std::to_string(aws->max) + (aws->per_region ? " per account and region" : " per account");
}

std::vector<UncountedLine> Uncounted(const Quotas& quotas, const AllFacts& facts,
                                     std::string_view ns) {
  std::vector<UncountedLine> out;
  std::set<std::string_view> types;
  for (const Quota& quota : quotas.all()) {
    if (quota.account.empty() || !types.insert(quota.type).second) continue;
    std::uint64_t count = 0;
    for (const PlaceCount& each : facts.PlacesOf(quota.type, kPlacesMax)) {
      const bool is_asked = ns.empty() || each.place.ns.second == ns;
      if (is_asked && each.place.account.empty()) count += each.count;
    }
    if (count > 0) out.push_back({quota.type, count});
  }
  return out;
}

}  // namespace

QuotaReport ReportQuotas(const Quotas& quotas, const AllFacts& facts, std::string_view ns) {
  QuotaReport out;
  for (const QuotaUse& use : QuotaUses(quotas, facts)) {
    if (!ns.empty() && use.spot.ns.second != ns) continue;
    out.cut = out.lines.size() == kQuotaLinesMax;
    if (out.cut) break;
    out.lines.push_back({*use.quota, use.spot, use.used});
  }
  out.uncounted = Uncounted(quotas, facts, ns);
  return out;
}

std::string_view QuotaStateOf(const QuotaLine& line) {
  if (line.used >= line.quota.max) return "full";
  return line.used >= WarnsFrom(line.quota) ? "warns" : "free";
}

std::string QuotaText(const QuotaReport& report) {
  if (report.lines.empty() && report.uncounted.empty()) return "No quota counts anything here.\n";
  std::vector<std::vector<std::string>> rows;
  rows.reserve(report.lines.size());
  for (const QuotaLine& line : report.lines) {
    rows.push_back({line.quota.type, InWords(line.spot),
                    std::to_string(line.used) + "/" + std::to_string(line.quota.max),
                    BarOf(line) + " " + std::to_string(PercentUsed(line)) + " %",
                    std::string(QuotaStateOf(line)), AwsDefault(line.quota.type)});
  }
  std::string out = TextTable({"TYPE", "WHERE", "USED", "SHARE", "STATE", "AWS DEFAULT"}, rows);
  if (report.cut) out += "and more; -o json with a namespace shows the rest\n";
  for (const UncountedLine& each : report.uncounted) {
    out += "\n" + std::to_string(each.count) + " " + each.type +
           " count for no account, because theirs is not known: name the accounts of their "
           "ProviderConfigs (setting providerConfigs).\n";
  }
  return out;
}

void WriteQuotas(const QuotaReport& report, JsonWriter& json) {
  const auto words = [&json](std::string_view account, std::string_view region, std::string_view ns,
                             std::string_view service) {
    json.BeginObject()
        .Field("account", account)
        .Field("region", region)
        .Field("namespace", ns)
        .Field("service", service)
        .EndObject();
  };
  json.Key("items").BeginArray();
  for (const QuotaLine& line : report.lines) {
    const Quota& quota = line.quota;
    json.BeginObject().Field("type", quota.type).Key("quota");
    words(quota.account, quota.region, quota.ns, quota.service);
    json.Key("in");
    words(line.spot.account, line.spot.region, line.spot.ns.second, line.spot.service);
    json.NumberField("used", line.used)
        .NumberField("max", quota.max)
        .NumberField("warnsFrom", WarnsFrom(quota))
        .Field("state", QuotaStateOf(line));
    if (const AwsQuota* aws = AwsQuotaOf(quota.type)) {
      json.Key("awsDefault")
          .BeginObject()
          .NumberField("max", aws->max)
          .Field("per", aws->per_region ? "account+region" : "account")
          .Field("source", aws->source)
          .Field("read", aws->read)
          .EndObject();
    }
    json.EndObject();
  }
  json.EndArray().Field("cut", report.cut).Key("uncounted").BeginArray();
  for (const UncountedLine& each : report.uncounted) {
    json.BeginObject().Field("type", each.type).NumberField("count", each.count).EndObject();
  }
  json.EndArray();
}

void WriteQuotaMetrics(const Quotas& quotas, const AllFacts& facts, MetricWriter& writer) {
  std::vector<std::uint64_t> used(quotas.all().size());
  for (const QuotaUse& use : QuotaUses(quotas, facts)) {
    std::uint64_t& fullest = used[static_cast<std::size_t>(use.quota - quotas.all().data())];
    fullest = std::max(fullest, use.used);
  }
  const auto family = [&](std::string_view name, const auto& value_of) {
    writer.Family(name);
    for (std::size_t i = 0; i < used.size(); ++i) {
      const Quota& quota = quotas.all()[i];
      const std::string words = InWords(quota);
      const std::array<std::pair<std::string_view, std::string_view>, 2> labels = {
          {{"type", quota.type}, {"quota", words}}};
      writer.Sample(labels, static_cast<double>(value_of(i)));
    }
  };
  family("truce_quota_used", [&](std::size_t i) { return used[i]; });
  family("truce_quota_max", [&](std::size_t i) { return quotas.all()[i].max; });
}

}  // namespace truce
