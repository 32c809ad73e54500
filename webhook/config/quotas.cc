// Reader of `quotas`. Whether the type exists and the patterns can match is checked where the
// policy is built (policies/quotas.h); the locations are kept for that.
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "webhook/config/keys.h"
#include "webhook/wire/node_reader.h"

namespace truce {
namespace {

constexpr std::uint64_t kMaxMax = 1'000'000'000;
constexpr std::uint64_t kWholePercent = 100;

std::optional<std::uint64_t> WholeCount(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<std::uint64_t> ReadCount(const NodeReader& reader, const YamlNode& node,
                                const std::string& path, std::uint64_t max, std::string_view what) {
  std::string_view text = node.scalar;
  if (max == kWholePercent && text.ends_with('%')) text.remove_suffix(1);
  const bool is_scalar = node.kind == YamlNode::Kind::kScalar;
  const auto number = is_scalar ? WholeCount(text) : std::nullopt;
  if (!number || *number < 1 || *number > max) return reader.Fail(node, path, what);
  return *number;
}

Result<Quota> ReadQuota(const NodeReader& reader, const YamlNode& node, const std::string& path) {
  TRUCE_RETURN_IF_ERROR(reader.RequireMapping(
      node, path, {"type", "account", "region", "namespace", "service", "max", "warnAt"}));
  Quota out;
  out.location = reader.LocationOf(node);
  TRUCE_ASSIGN_OR_RETURN(out.type, reader.Required(node, "type", path));
  TRUCE_ASSIGN_OR_RETURN(out.account, reader.Optional(node, "account", path));
  TRUCE_ASSIGN_OR_RETURN(out.region, reader.Optional(node, "region", path));
  TRUCE_ASSIGN_OR_RETURN(out.ns, reader.Optional(node, "namespace", path));
  TRUCE_ASSIGN_OR_RETURN(out.service, reader.Optional(node, "service", path));
  const YamlNode* max = node.Find("max");
  if (max == nullptr) {
    return reader.Fail(node, path + ".max", "is missing; write how many there may be");
  }
  TRUCE_ASSIGN_OR_RETURN(
      out.max, ReadCount(reader, *max, path + ".max", kMaxMax,
                         "must be a whole number, 1 to 1000000000; to refuse a type altogether "
                         "use Kubernetes' own permissions"));
  if (const YamlNode* warn_at = node.Find("warnAt"); warn_at != nullptr) {
    TRUCE_ASSIGN_OR_RETURN(const std::uint64_t percent,
                           ReadCount(reader, *warn_at, path + ".warnAt", kWholePercent,
                                     "must be a share of max, 1% to 100%"));
    out.warn_at = static_cast<unsigned>(percent);
  }
  return out;
}

}  // namespace

Result<void> ReadQuotas(const YamlNode& node, std::string_view where, Config& config) {
  const NodeReader reader(where);
  TRUCE_RETURN_IF_ERROR(reader.RequireList(node, "quotas"));
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    TRUCE_ASSIGN_OR_RETURN(Quota quota, ReadQuota(reader, node.children[i], ItemPath("quotas", i)));
    config.quotas.push_back(std::move(quota));
  }
  return {};
}

}  // namespace truce
