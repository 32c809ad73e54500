#include "webhook/findings/mute_book.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "registry/store/administration.h"

namespace truce {
namespace {

// The mutes in `rows`, without what is over at `now`; nothing: one cannot be read. One of a
// detector that this version does not have hides nothing, and is passed over.
template <typename Mutes>
std::optional<Mutes> MutesFrom(std::vector<TableRow> rows, Timestamp now) {
  std::erase_if(rows, [](const TableRow& row) {
    Detector detector{};
    return !ColumnForm<Detector>::From(row.front(), detector);
  });
  auto read = kMutesTable.Values(rows);
  if (!read) return std::nullopt;
  Mutes mutes;
  for (Mute& mute : *read) {
    if (mute.until > now) mutes.insert_or_assign({mute.detector, mute.subject}, std::move(mute));
  }
  return mutes;
}

std::size_t CountOf(std::string_view ns, const auto& mutes) {
  return static_cast<std::size_t>(std::count_if(mutes.begin(), mutes.end(), [&](const auto& each) {
    const auto& all = each.second.namespaces;
    return std::find(all.begin(), all.end(), ns) != all.end();
  }));
}

// Why there is no room for one more, if so.
std::optional<std::string> NoRoomFor(const Mute& mute, const auto& mutes) {
  if (mutes.size() >= MuteBook::kMutesMax) {
    return std::to_string(MuteBook::kMutesMax) + " mutes hold already; end some of them first";
  }
  for (const std::string& ns : mute.namespaces) {
    if (ns.empty() || CountOf(ns, mutes) < MuteBook::kMutesOfNamespaceMax) continue;
    return std::to_string(MuteBook::kMutesOfNamespaceMax) + " mutes of findings about namespace " +
           ns + " hold already; end some of them first";
  }
  return std::nullopt;
}

bool Holds(const Mute& mute, const LiveFinding& finding) {
  return SeverityOf(finding.mode) <= mute.severity &&
         std::includes(mute.namespaces.begin(), mute.namespaces.end(), finding.namespaces.begin(),
                       finding.namespaces.end());
}

std::string AuditTextOf(const Mute& mute) {
  return "mute of finding " + std::string(Name(mute.detector)) + " about " +
         (mute.resource.empty() ? mute.subject : mute.resource);
}

}  // namespace

Mute MuteOf(const LiveFinding& finding) {
  Mute mute;
  mute.detector = finding.detector;
  mute.subject = finding.subject;
  mute.severity = SeverityOf(finding.mode);
  mute.resource = finding.resource;
  mute.namespaces = finding.namespaces;
  return mute;
}

Result<void> MuteBook::LoadLocked(Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(std::vector<TableRow> rows, ReadRows(store_, kMutesTable, deadline));
  auto read = MutesFrom<Mutes>(std::move(rows), clock_.Now());
  if (!read) return Unreadable(kMutesTable);
  present_.With([&](Mutes& present) { present = *std::move(read); });
  return {};
}

Result<void> MuteBook::Load(Deadline deadline) {
  const std::lock_guard<std::mutex> lock(changing_);
  return LoadLocked(deadline);
}

Result<void> MuteBook::Change(const std::function<void(Mutes&, Administration&)>& change,
                              Deadline deadline) {
  const std::lock_guard<std::mutex> lock(changing_);
  bool readable = true;
  TRUCE_RETURN_IF_ERROR(Administer(store_, clock_.Now(), deadline, [&](Administration& books) {
    auto mutes = MutesFrom<Mutes>(books.TableRows(kMutesTable), books.now());
    readable = mutes.has_value();
    if (!readable) return;
    change(*mutes, books);
    std::vector<TableRow> rows;
    for (const auto& [of, mute] : *mutes) rows.push_back(kMutesTable.Row(mute));
    books.SetTableRows(kMutesTable, std::move(rows));
  }));
  if (!readable) return Unreadable(kMutesTable);
  return LoadLocked(deadline);
}

Result<Mute> MuteBook::Add(Mute mute, Deadline deadline) {
  const Timestamp now = clock_.Now();
  if (mute.reason.empty()) return InvalidArgument("\"reason\" is missing");
  if (mute.reason.size() > kReasonBytesMax) {
    return InvalidArgument("\"reason\" is longer than 512 bytes");
  }
  if (mute.until <= now) return InvalidArgument("\"until\" is not in the future");
  if (mute.until > now + kLongest) {
    return InvalidArgument("\"until\" is more than 90 days ahead; mute it anew when it is over");
  }
  mute.at = now;
  std::optional<std::string> no_room;
  TRUCE_RETURN_IF_ERROR(Change(
      [&](Mutes& mutes, Administration& books) {
        // One that stands is replaced, and takes no further room.
        Mutes others = mutes;
        others.erase({mute.detector, mute.subject});
        no_room = NoRoomFor(mute, others);
        if (no_room) return;
        mutes.insert_or_assign({mute.detector, mute.subject}, mute);
        books.Audit(mute.by, AuditTextOf(mute) + " until " + FormatTimestamp(mute.until) + ": " +
                                 mute.reason);
      },
      deadline));
  if (no_room) return Error{ErrorCode::kConflict, *no_room};
  return mute;
}

Result<Mute> MuteBook::End(Detector detector, const std::string& subject, const std::string& by,
                           Deadline deadline) {
  std::optional<Mute> ended;
  TRUCE_RETURN_IF_ERROR(Change(
      [&](Mutes& mutes, Administration& books) {
        ended.reset();
        const auto found = mutes.find({detector, subject});
        if (found == mutes.end()) return;
        ended = found->second;
        mutes.erase(found);
        books.Audit(by, AuditTextOf(*ended) + " ended");
      },
      deadline));
  if (!ended) return Error{ErrorCode::kNotFound, "it is not muted, or its mute is over"};
  return *std::move(ended);
}

std::vector<Mute> MuteBook::Present() const {
  const Timestamp now = clock_.Now();
  return present_.With([&](const Mutes& present) {
    std::vector<Mute> out;
    for (const auto& [of, mute] : present) {
      if (mute.until > now) out.push_back(mute);
    }
    return out;
  });
}

std::optional<Mute> MuteBook::Hiding(const LiveFinding& finding) const {
  const Timestamp now = clock_.Now();
  return present_.With([&](const Mutes& present) {
    const auto found = present.find({finding.detector, finding.subject});
    const bool hides =
        found != present.end() && found->second.until > now && Holds(found->second, finding);
    return hides ? std::optional<Mute>(found->second) : std::nullopt;
  });
}

void WriteFindingsMetrics(const FindingsBook& book, const MuteBook& mutes, MetricWriter& writer) {
  auto counts = book.Counts();
  std::array<std::uint64_t, kDetectorCount> muted{};
  for (const Mute& mute : mutes.Present()) {
    const auto finding = book.Find(mute.detector, mute.subject);
    if (!finding || !mutes.Hides(*finding)) continue;
    ++muted[static_cast<std::size_t>(mute.detector)];
    std::uint64_t& count = counts[{mute.detector, finding->mode}];
    count -= std::min<std::uint64_t>(count, 1);
  }
  writer.Family("truce_findings");
  for (std::size_t i = 0; i < kDetectorCount; ++i) {
    const auto detector = static_cast<Detector>(i);
    for (const Mode mode : {Mode::kAudit, Mode::kWarn, Mode::kEnforce}) {
      const std::array<std::pair<std::string_view, std::string_view>, 2> labels = {
          {{"rule", Name(detector)}, {"mode", Name(mode)}}};
      const auto found = counts.find({detector, mode});
      writer.Sample(labels, found == counts.end() ? 0 : static_cast<double>(found->second));
    }
  }
  writer.Family("truce_findings_muted");
  for (std::size_t i = 0; i < kDetectorCount; ++i) {
    const std::array<std::pair<std::string_view, std::string_view>, 1> labels = {
        {{"rule", Name(static_cast<Detector>(i))}}};
    writer.Sample(labels, static_cast<double>(muted[i]));
  }
}

}  // namespace truce
