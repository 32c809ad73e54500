#include "webhook/config/keys.h"
#include "webhook/config/load.h"

namespace truce {
namespace {

std::string OriginText(const Origin& origin) {
  switch (origin.source) {
    case Origin::Source::kDefault: return "default";
    case Origin::Source::kFile:
    case Origin::Source::kVariable:
    case Origin::Source::kFlag: return origin.location;
  }
  return "";
}

void AppendPadded(std::string& out, std::string_view text, std::size_t width) {
  out.append(text);
  out.append(text.size() < width ? width - text.size() : 1, ' ');
}

}  // namespace

std::string PrintConfig(const LoadedConfig& loaded) {
  std::string out;
  for (const Key& key : Keys()) {
    const Origin& origin = loaded.origins.find(key.name)->second;
    const YamlNode& value = origin.value;
    const std::string comment = "  # " + OriginText(origin) + "\n";
    out.append(key.name).append(":");
    if (value.kind == YamlNode::Kind::kScalar) {
      out.append(" ").append(WriteYamlScalar(value.scalar, value.quoted)).append(comment);
    } else if (value.children.empty()) {
      out.append(value.kind == YamlNode::Kind::kSequence ? " []" : " {}").append(comment);
    } else {
      out.append(comment).append(WriteYaml(value, 2));
    }
  }
  return out;
}

std::string PrintKeys() {
  std::string out;
  for (const Key& key : Keys()) {
    out.append(key.name).append(" (").append(key.type).append(")\n");
    out.append("    ").append(key.help).append("\n");
    if (key.IsStructured()) {
      out.append("    in the file only");
    } else {
      out.append("    ");
      AppendPadded(out, FlagOf(key.name), 28);
      out.append(VariableOf(key.name));
      if (!key.fallback.empty()) out.append("   default ").append(key.fallback);
    }
    out.append(key.reloads ? "   taken over while running\n\n" : "\n\n");
  }
  out.pop_back();
  return out;
}

}  // namespace truce
