#include <algorithm>
#include <array>

#include "registry/base/text.h"
#include "webhook/wire/yaml.h"

namespace truce {
namespace {

std::string DoubleQuoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      AppendHex(byte, out);
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool IsPlainSafe(std::string_view text) {
  if (text.empty() || LooksLikeOtherThanText(text)) return false;
  const auto is_safe = [](char c) {
    return IsAlnum(c) || std::string_view("._/:@+-").find(c) != std::string_view::npos;
  };
  if (!std::all_of(text.begin(), text.end(), is_safe)) return false;
  // A leading dash or colon, and a colon at the end, mean something to YAML.
  return IsAlnum(text.front()) && text.back() != ':';
}

void Write(const YamlNode& node, int indent, bool in_list, std::string& out);

void WriteChild(const YamlNode& child, int indent, std::string& out) {
  if (child.kind == YamlNode::Kind::kScalar) {
    out.append(" ").append(WriteYamlScalar(child.scalar, child.quoted)).append("\n");
  } else if (child.children.empty()) {
    out += child.kind == YamlNode::Kind::kSequence ? " []\n" : " {}\n";
  } else {
    out += "\n";
    Write(child, indent + 2, false, out);
  }
}

// `in_list`: the first line follows "- " and is already indented.
void Write(const YamlNode& node, int indent, bool in_list, std::string& out) {
  const std::string pad(static_cast<std::size_t>(indent), ' ');
  if (node.kind == YamlNode::Kind::kScalar) {
    out.append(in_list ? "" : pad).append(WriteYamlScalar(node.scalar, node.quoted)).append("\n");
    return;
  }
  if (node.children.empty()) {
    out.append(in_list ? "" : pad);
    out += node.kind == YamlNode::Kind::kSequence ? "[]\n" : "{}\n";
    return;
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    out.append(in_list && i == 0 ? "" : pad);
    if (node.kind == YamlNode::Kind::kMapping) {
      out.append(WriteYamlScalar(node.keys[i].text, false)).append(":");
      WriteChild(node.children[i], indent, out);
    } else {
      out += "- ";
      Write(node.children[i], indent + 2, true, out);
    }
  }
}

}  // namespace

bool LooksLikeOtherThanText(std::string_view plain) {
  static constexpr std::array<std::string_view, 16> kWords = {
      "~", "null", "true", "false", "yes",   "no",    "on",  "off",
      "y", "n",    ".nan", ".inf",  "-.inf", "+.inf", "nan", "inf"};
  const std::string lower = LowerOf(plain);
  if (lower.empty()) return true;
  if (std::find(kWords.begin(), kWords.end(), lower) != kWords.end()) return true;
  std::string_view number = lower;
  if (number.front() == '-' || number.front() == '+') number.remove_prefix(1);
  if (number.empty()) return false;
  if (number.starts_with("0x")) return true;
  if (number.starts_with("0o") || number.starts_with("0b")) return true;
  if (number.front() == '.') number.remove_prefix(1);
  if (number.empty() || !IsDigit(number.front())) return false;
  // Digits, and the characters between them in a number of YAML 1.1: 1_000, 1.5e3, 22:22.
  std::size_t dot_count = 0;
  for (const char c : number) {
    if (c == '.') ++dot_count;
    if (!IsDigit(c) && std::string_view("._e+-:").find(c) == std::string_view::npos) return false;
  }
  const bool is_address = dot_count > 1;  // 127.0.0.1:8443
  const bool is_date = number.size() >= 10 && number[4] == '-';
  return !is_address && !is_date;
}

std::string WriteYamlScalar(std::string_view text, bool quoted) {
  if (quoted) return IsPlainSafe(text) ? std::string(text) : DoubleQuoted(text);
  // A plain scalar that was read as a number or boolean is written back as it was.
  return IsPlainSafe(text) || (!text.empty() && LooksLikeOtherThanText(text)) ? std::string(text)
                                                                              : DoubleQuoted(text);
}

std::string WriteYaml(const YamlNode& node, int indent) {
  std::string out;
  Write(node, indent, false, out);
  return out;
}

}  // namespace truce
