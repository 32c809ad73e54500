// The answering half of the codec: JSON by hand, one pass, no temporary tree.
#include <array>
#include <charconv>

#include "webhook/admission/codec.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

std::string_view ReasonOf(int code) { return code == 422 ? "Invalid" : "Forbidden"; }

}  // namespace

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
