#include "webhook/wire/json_writer.h"

#include <array>

#include "registry/base/text.h"

namespace truce {
namespace {

// Bytes that stand for themselves in a JSON string.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x7F; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

bool IsPlain(char c) { return kPlain[static_cast<unsigned char>(c)]; }

void AppendEscaped(char c, std::string& out) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  out += "\\u00";
  AppendHex(static_cast<unsigned char>(c), out);
}

}  // namespace

void AppendJsonString(std::string_view text, std::string& out) {
  out += '"';
  std::size_t begin = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    if (IsPlain(text[i])) {
      ++i;
      continue;
    }
    out.append(text, begin, i - begin);
    const auto rest = text.substr(i);
    const std::size_t length = FirstCharacter(rest).length;
    if (length > 1) {
      out.append(rest.substr(0, length));
    } else if (length == 1) {
      AppendEscaped(text[i], out);
    } else {
      out += "\xEF\xBF\xBD";
    }
    i += length == 0 ? 1 : length;
    begin = i;
  }
  out.append(text, begin, text.size() - begin);
  out += '"';
}

JsonWriter& JsonWriter::Begin(char bracket) {
  Separate();
  out_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::End(char bracket) {
  out_ += bracket;
  needs_comma_ = true;
  return *this;
}

void JsonWriter::Separate() {
  if (needs_comma_) out_ += ',';
  needs_comma_ = true;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Separate();
  AppendJsonString(name, out_);
  out_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view value) {
  Separate();
  AppendJsonString(value, out_);
  return *this;
}

JsonWriter& JsonWriter::Number(std::int64_t value) { return Raw(std::to_string(value)); }

JsonWriter& JsonWriter::Bool(bool value) { return Raw(value ? "true" : "false"); }

JsonWriter& JsonWriter::Null() { return Raw("null"); }

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::TextsField(std::string_view name, const std::vector<std::string>& values) {
  Key(name).BeginArray();
  for (const std::string& value : values) Text(value);
  return EndArray();
}

}  // namespace truce
