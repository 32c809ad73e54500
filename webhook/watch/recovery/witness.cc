#include "webhook/watch/recovery/witness.h"

#include <array>
#include <charconv>
#include <vector>

#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"
#include "registry/store/store.h"
#include "webhook/watch/recovery/recovery.h"

namespace truce {
namespace {

constexpr std::string_view kNone = "-";  // where a word is empty

std::string_view WordOf(std::string_view text) { return text.empty() ? kNone : text; }
std::string TextOf(std::string_view word) { return std::string(word == kNone ? "" : word); }

template <typename Number>
bool Parse(std::string_view text, Number& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size();
}

// Lines that the registry let go itself are not missed.
bool Lacks(const AllFacts& facts, const AuditWitness& line) {
  std::uint64_t let_go = 0;
  const std::string text = facts.Setting("audit.let-go").value_or("");
  if (Parse(text, let_go) && line.number <= let_go) return false;
  const auto found = facts.AuditLines({.from = line.number, .until = line.number + 1}, 1);
  // A registry that was restored goes on counting: another line may have the number by now.
  return found.empty() || found[0].entry.at != line.at || found[0].entry.id != line.id;
}

}  // namespace

std::string ToText(const AuditWitness& witness) {
  std::string text(WordOf(witness.registry));
  text.append(" ").append(std::to_string(witness.number));
  text.append(" ").append(std::to_string(witness.at.time_since_epoch().count()));
  return text.append(" ").append(WordOf(witness.id.text));
}

std::optional<AuditWitness> AuditWitnessFromText(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::array<std::string_view, 4> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t end = text.find(' ');
    words[i] = text.substr(0, end);
    if (words[i].empty() || (end == std::string_view::npos) != (i + 1 == words.size())) {
      return std::nullopt;
    }
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  AuditWitness witness;
  std::int64_t at = 0;
  if (!Parse(words[1], witness.number) || !Parse(words[2], at)) return std::nullopt;
  witness.registry = TextOf(words[0]);
  witness.at = Timestamp(std::chrono::milliseconds(at));
  witness.id.text = TextOf(words[3]);
  return witness;
}

Result<WitnessLook> ReadWitness(const Store& store, const std::optional<AuditWitness>& remembered,
                                Deadline deadline) {
  WitnessLook look;
  const auto read = [&](const AllFacts& facts) {
    look = {};
    const std::optional<StoreMark> mark = MarkOf(facts);
    const std::string registry = mark ? mark->id : "";
    const std::vector<AuditLine> newest = facts.AuditLines({.newest_first = true}, 1);
    if (!newest.empty()) {
      const AuditEntry& entry = newest[0].entry;
      look.newest = {registry, newest[0].place.number, entry.at, entry.id};
    }
    // Another registry is noticed by its mark.
    if (!remembered || remembered->registry != registry || !Lacks(facts, *remembered)) return;
    look.loss = "the registry no longer has line " + std::to_string(remembered->number) +
                " of its audit log, of " + FormatTimestamp(remembered->at) +
                ": it was restored, or its database failed over to a standby that was behind";
  };
  TRUCE_RETURN_IF_ERROR(store.Read(read, deadline));
  return look;
}

}  // namespace truce
