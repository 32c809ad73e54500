#include "webhook/wire/json_writer.h"

#include <cstddef>

#include "registry/base/plain_run.h"
#include "registry/base/text.h"

namespace truce {
namespace {

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
  while (true) {
    const std::size_t plain = PlainRun<Quotes::kOdd>(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = FirstCharacter(text).length;
    if (length > 1) {
      out.append(text.substr(0, length));
    } else if (length == 1) {
      AppendEscaped(text[0], out);
    } else {
      out += "\xEF\xBF\xBD";
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
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
