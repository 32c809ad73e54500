#include "webhook/watch/recovery/recovery.h"

#include <charconv>

#include "registry/ownership/facts.h"
#include "registry/store/administration.h"
#include "registry/store/store.h"

namespace truce {
namespace {

constexpr std::string_view kMark = "store/mark";
constexpr std::string_view kRecovery = "recovery";
constexpr std::string_view kServedCluster = "registry/cluster";

std::string BindingName(std::string_view cluster) {
  return "cluster/" + std::string(cluster) + "/kube-system";
}

// Ok: `bound`, nothing for none, is `cluster`.
Result<void> CheckBound(const std::string& bound, std::string_view cluster) {
  if (bound.empty() || bound == cluster) return {};
  return Error{ErrorCode::kConflict, "the registry belongs to cluster \"" + bound +
                                         "\", and this server speaks for \"" +
                                         std::string(cluster) +
                                         "\": name its own database in --store, or start it with "
                                         "--cluster-id " +
                                         bound};
}

// Ok: `bound` is `kube_system`.
Result<void> CheckUid(const std::string& bound, std::string_view cluster, const Uid& kube_system) {
  if (bound == kube_system.text) return {};
  return Error{
      ErrorCode::kConflict,
      "the registry knows cluster \"" + std::string(cluster) + "\" by the uid " + bound +
          " of its kube-system namespace, and this one has " + kube_system.text +
          ": use the kubeconfig of that cluster, or give this one another --cluster-id, or "
          "another registry (--data-dir, --store)"};
}

}  // namespace

Result<void> CheckRegistry(const Store& store, std::string_view cluster, Deadline deadline) {
  std::string bound;
  const std::string name(kServedCluster);
  TRUCE_RETURN_IF_ERROR(
      store.Read([&](const Facts& facts) { bound = facts.Setting(name).value_or(""); }, deadline));
  return CheckBound(bound, cluster);
}

Result<void> BindRegistry(Store& store, std::string_view cluster, Deadline deadline) {
  std::string bound;
  const std::string name(kServedCluster);
  TRUCE_RETURN_IF_ERROR(Administer(store, Timestamp{}, deadline, [&](Administration& books) {
    bound = books.Setting(name).value_or("");
    if (bound.empty()) books.PutSetting(name, std::string(cluster));
  }));
  return CheckBound(bound, cluster);
}

Result<void> BindCluster(Store& store, std::string_view cluster, const Uid& kube_system,
                         Deadline deadline) {
  std::string bound;
  const std::string name = BindingName(cluster);
  TRUCE_RETURN_IF_ERROR(Administer(store, Timestamp{}, deadline, [&](Administration& books) {
    bound = books.Setting(name).value_or(kube_system.text);
    // Another cluster's binding is never written over: the second cluster is the wrong one.
    if (bound == kube_system.text) books.PutSetting(name, kube_system.text);
  }));
  return CheckUid(bound, cluster, kube_system);
}

Result<void> CheckCluster(const Store& store, std::string_view cluster, const Uid& kube_system,
                          Deadline deadline) {
  std::string bound;
  const std::string name = BindingName(cluster);
  TRUCE_RETURN_IF_ERROR(store.Read(
      [&](const Facts& facts) { bound = facts.Setting(name).value_or(kube_system.text); },
      deadline));
  return CheckUid(bound, cluster, kube_system);
}

std::string ToText(const StoreMark& mark) { return mark.id + " " + std::to_string(mark.starts); }

std::optional<StoreMark> StoreMarkFromText(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos || space == 0) return std::nullopt;
  StoreMark mark{std::string(text.substr(0, space)), 0};
  const std::string_view digits = text.substr(space + 1);
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), mark.starts);
  if (code != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return mark;
}

std::optional<StoreMark> MarkOf(const Facts& facts) {
  return StoreMarkFromText(facts.Setting(kMark).value_or(""));
}

Result<StoreMark> CountStart(Store& store, const IdSource& ids, Deadline deadline) {
  StoreMark counted;
  const std::string fresh = ids().text;
  TRUCE_RETURN_IF_ERROR(Administer(store, Timestamp{}, deadline, [&](Administration& books) {
    const std::string name(kMark);
    auto mark = StoreMarkFromText(books.Setting(name).value_or(""));
    if (!mark) mark = StoreMark{fresh, 0};
    ++mark->starts;
    counted = *mark;
    books.PutSetting(name, ToText(*mark));
  }));
  return counted;
}

Behind CompareMarks(const StoreMark& present, const std::optional<StoreMark>& remembered) {
  if (!remembered) return Behind::kNo;
  if (remembered->id != present.id) return Behind::kOther;
  return present.starts > remembered->starts ? Behind::kNo : Behind::kOlder;
}

namespace {

// "<ms since epoch> <0|1> <reason>".
std::string ToText(const RecoveryState& state) {
  return std::to_string(state.since.time_since_epoch().count()) + (state.resynced ? " 1 " : " 0 ") +
         state.reason;
}

std::optional<RecoveryState> FromText(std::string_view text) {
  std::int64_t since = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), since);
  const auto rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (code != std::errc() || rest.size() < 3) return std::nullopt;
  RecoveryState state;
  state.since = Timestamp(std::chrono::milliseconds(since));
  state.resynced = rest[1] == '1';
  state.reason = rest.substr(3);
  return state;
}

}  // namespace

std::optional<RecoveryState> RecoveryOf(const Facts& facts) {
  return FromText(facts.Setting(kRecovery).value_or(""));
}

Result<std::optional<RecoveryState>> ReadRecovery(const Store& store, Deadline deadline) {
  std::optional<RecoveryState> state;
  const auto read = [&](const Facts& facts) { state = RecoveryOf(facts); };
  TRUCE_RETURN_IF_ERROR(store.Read(read, deadline));
  return state;
}

void EnterRecovery(const std::string& reason, const std::string& actor, Administration& books) {
  const std::string name(kRecovery);
  // The first reason counts, and a resync that is done is not forgotten.
  if (FromText(books.Setting(name).value_or(""))) return;
  books.PutSetting(name, ToText(RecoveryState{reason, books.now(), false}));
  books.Audit(actor, "recovery mode: " + reason);
}

void NoteResynced(Administration& books) {
  const std::string name(kRecovery);
  auto state = FromText(books.Setting(name).value_or(""));
  if (!state || state->resynced) return;
  state->resynced = true;
  books.PutSetting(name, ToText(*state));
}

RecoveryEnd FinishRecovery(const std::string& actor, bool force, Administration& books) {
  const std::string name(kRecovery);
  const auto state = FromText(books.Setting(name).value_or(""));
  if (!state) return RecoveryEnd::kNotEntered;
  if (!state->resynced && !force) return RecoveryEnd::kNotResynced;
  books.PutSetting(name, "");
  books.Audit(actor, state->resynced ? "recovery mode ended" : "recovery mode ended, by force");
  return RecoveryEnd::kEnded;
}

}  // namespace truce
