// The answering half of the codec: JSON by hand, one pass, no temporary tree.
#include <array>
#include <charconv>

#include "registry/base/hex.h"
#include "registry/base/utf8.h"
#include "webhook/admission/codec.h"

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

std::string_view ReasonOf(int code) { return code == 422 ? "Invalid" : "Forbidden"; }

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

std::string WriteReview(std::string_view uid, const AdmissionAnswer& answer) {
  std::string out;
  std::size_t room = 256 + uid.size() + answer.message.size() + answer.message.size() / 8;
  for (const auto& warning : answer.warnings) room += warning.size() + 8;
  out.reserve(room);
  out += R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":)";
  AppendJsonString(uid, out);
  out += answer.allowed ? R"(,"allowed":true)" : R"(,"allowed":false)";
  if (!answer.allowed) {
    std::array<char, 12> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), answer.code).ptr;
    out += R"(,"status":{"status":"Failure","message":)";
    AppendJsonString(answer.message, out);
    out += R"(,"reason":")";
    out += ReasonOf(answer.code);
    out += R"(","code":)";
    out.append(digits.data(), end);
    out += '}';
  }
  if (!answer.warnings.empty()) {
    out += R"(,"warnings":[)";
    bool first = true;
    for (const auto& warning : answer.warnings) {
      if (!first) out += ',';
      first = false;
      AppendJsonString(warning, out);
    }
    out += ']';
  }
  out += "}}";
  return out;
}

}  // namespace truce
