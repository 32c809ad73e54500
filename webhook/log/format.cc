
#include <array>

#include "registry/base/hex.h"
#include "registry/base/utf8.h"
#include "webhook/log/log.h"

namespace truce {
namespace {

// Room for most lines.
constexpr std::size_t kUsualLineBytes = 768;

// Bytes that stand for themselves within quotes.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

bool IsPlain(char c) { return kPlain[static_cast<unsigned char>(c)]; }

void AppendEscape(std::string& out, unsigned char byte) {
  out += "\\u00";
  AppendHex(byte, out);
}

// True for code points that would rearrange or break the line on a terminal: C1 controls, line and
// paragraph separators, directional marks.
bool IsDisruptive(std::string_view sequence) {
  if (sequence.size() == 2) {
    return sequence[0] == '\xc2' && static_cast<unsigned char>(sequence[1]) < 0xa0;
  }
  if (sequence.size() != 3 || sequence[0] != '\xe2') return false;
  const auto second = static_cast<unsigned char>(sequence[1]);
  const auto third = static_cast<unsigned char>(sequence[2]);
  if (second == 0x80) return third >= 0x8b && (third <= 0x8f || (third >= 0xa8 && third <= 0xae));
  return second == 0x81 && third >= 0xa0 && third <= 0xaf;
}

// Appends a JSON string's content.
void AppendEscaped(std::string& out, std::string_view text) {
  const bool is_cut = text.size() > kLogValueBytesMax;
  text = text.substr(0, kLogValueBytesMax);
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && IsPlain(text[plain])) ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto byte = static_cast<unsigned char>(text[0]);
    const std::size_t length = FirstCharacter(text).length;
    if (text[0] == '"' || text[0] == '\\') {
      out += '\\';
      out += text[0];
    } else if (length == 0 || byte < 0x20 || byte == 0x7f) {
      AppendEscape(out, byte);
    } else if (IsDisruptive(text.substr(0, length))) {
      for (const char c : text.substr(0, length)) AppendEscape(out, static_cast<unsigned char>(c));
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  if (is_cut) out += "…";
}

bool NeedsQuotes(std::string_view text) {
  if (text.empty() || text.size() > kLogValueBytesMax) return true;
  for (const char c : text) {
    if (!IsPlain(c) || c == ' ' || c == '=') return true;
  }
  return false;
}

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  AppendEscaped(out, text);
  out += '"';
}

void AppendValue(std::string& out, const LogField& field, LogFormat format) {
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
    out += std::to_string(*number);
  } else if (const auto* boolean = std::get_if<bool>(&field.value)) {
    out += *boolean ? "true" : "false";
  } else {
    const std::string_view text = std::get<std::string_view>(field.value);
    if (format == LogFormat::kJson || NeedsQuotes(text)) {
      AppendQuoted(out, text);
    } else {
      out += text;
    }
  }
}

std::string FormatJson(const LogLine& line, std::span<const LogField> fields) {
  std::string out;
  out.reserve(kUsualLineBytes);
  out.append("{\"time\":\"").append(FormatTimestamp(line.time)).append("\",\"level\":\"");
  out.append(Name(line.level)).append("\",\"event\":");
  AppendQuoted(out, line.event);
  for (const LogField& field : fields) {
    out += ',';
    AppendQuoted(out, field.name);
    out += ':';
    AppendValue(out, field, LogFormat::kJson);
  }
  out += '}';
  return out;
}

}  // namespace

std::string_view Name(LogFormat format) { return format == LogFormat::kText ? "text" : "json"; }

std::string_view Name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
  }
  return "";
}

std::string FormatLogLine(const LogLine& line, std::span<const LogField> fields) {
  if (line.format == LogFormat::kJson) return FormatJson(line, fields);
  std::string out;
  out.reserve(kUsualLineBytes);
  out.append(FormatTimestamp(line.time)).append(" ").append(Name(line.level)).append(" ");
  AppendEscaped(out, line.event);
  for (const LogField& field : fields) {
    out.append(" ").append(field.name).append("=");
    AppendValue(out, field, LogFormat::kText);
  }
  return out;
}

}  // namespace truce
