#include "webhook/findings/throttled_call.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "registry/base/one_line.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::size_t kWordBytesMax = 64;  // of a service, an API, a code
constexpr std::size_t kMessageBytesRead = 4096;

struct ThrottlingCode {
  std::string code;   // as in the table
  std::string lower;  // the same in lower case
  std::string needs;  // in lower case; empty: nothing
};

const std::vector<ThrottlingCode>& Codes() {
  static const std::vector<ThrottlingCode> kCodes = [] {
    std::vector<ThrottlingCode> out;
    std::string_view text = ThrottlingText();
    bool is_header = true;
    while (!text.empty()) {
      std::string_view line = TakeUntil(text, '\n');
      if (line.empty() || line.starts_with('#')) continue;
      if (std::exchange(is_header, false)) continue;
      const std::string code(TakeUntil(line, '\t'));
      const std::string_view needs = TakeUntil(line, '\t');
      out.push_back({code, LowerOf(code), needs == "-" ? std::string() : LowerOf(needs)});
    }
    return out;
  }();
  return kCodes;
}

bool IsWordCharacter(char c) { return IsDnsCharacter(c) || c == '_'; }

// Where a code can stand: behind "api error ", or as AWS spells it, as a word of its own, before
// ": " (objects' names have no capitals).
bool StandsAsCode(std::string_view message, std::string_view lower, std::size_t at,
                  const ThrottlingCode& code) {
  constexpr std::string_view kBefore = "api error ";
  if (at > 0 && IsWordCharacter(lower[at - 1])) return false;
  const std::string_view after = lower.substr(at + code.lower.size());
  if (!after.empty() && IsWordCharacter(after.front())) return false;
  if (lower.substr(0, at).ends_with(kBefore)) return true;
  return after.starts_with(": ") && message.substr(at).starts_with(code.code);
}

const ThrottlingCode* CodeIn(std::string_view message, std::string_view lower) {
  for (const ThrottlingCode& code : Codes()) {
    if (!code.needs.empty() && lower.find(code.needs) == std::string_view::npos) continue;
    for (std::size_t at = lower.find(code.lower); at != std::string_view::npos;
         at = lower.find(code.lower, at + 1)) {
      if (StandsAsCode(message, lower, at, code)) return &code;
    }
  }
  return nullptr;
}

// "operation error EFS: DescribeFileSystemPolicy, exceeded …": the last one, which is the
// innermost.
void ReadOperation(std::string_view message, std::string_view lower, ThrottledCall& out) {
  constexpr std::string_view kBefore = "operation error ";
  const std::size_t at = lower.rfind(kBefore);
  if (at == std::string_view::npos) return;
  std::string_view rest = message.substr(at + kBefore.size());
  const std::string_view service = TakeUntil(rest, ':');
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const std::string_view api = rest.substr(0, rest.find_first_of(", \n"));
  if (service.size() > kWordBytesMax || api.size() > kWordBytesMax) return;
  out.service = OneLine(service, kWordBytesMax);
  out.api = OneLine(api, kWordBytesMax);
}

}  // namespace

std::optional<ThrottledCall> ReadThrottledCall(std::string_view message) {
  message = message.substr(0, kMessageBytesRead);
  const std::string lower = LowerOf(message);
  const ThrottlingCode* code = CodeIn(message, lower);
  if (code == nullptr) return std::nullopt;
  ThrottledCall out{code->code, {}, {}};
  ReadOperation(message, lower, out);
  return out;
}

}  // namespace truce
