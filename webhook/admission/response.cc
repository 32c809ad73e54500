// The answering half of the codec: JSON by hand, one pass, no temporary tree.
#include <array>
#include <charconv>

#include "webhook/admission/codec.h"

namespace truce {
namespace {

// Number of bytes of the UTF-8 sequence at the begin of `text`, or 0 when it is none.
std::size_t SequenceLength(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    if (lead == 0xE0 && at(1) < 0xA0) return 0;  // overlong
    if (lead == 0xED && at(1) > 0x9F) return 0;  // surrogates
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (lead == 0xF0 && at(1) < 0x90) return 0;
    if (lead == 0xF4 && at(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

// Bytes that stand for themselves in a JSON string.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x7F; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

bool IsPlain(char c) { return kPlain[static_cast<unsigned char>(c)]; }

void AppendEscaped(char c, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[byte >> 4U];
  out += kHex[byte & 15U];
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
    const std::size_t length = SequenceLength(rest);
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
