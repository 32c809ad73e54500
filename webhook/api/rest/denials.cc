#include "webhook/api/rest/denials.h"

#include <exception>

namespace truce {

void DenialBook::OnReview(const ReviewRecord& record) noexcept {
  if (record.verdict != Verdict::kDenied) return;
  // Without memory for it there is no note; the answer is worth more.
  try {
    Note(record);
  } catch (const std::exception&) {
    return;
  }
}

void DenialBook::Note(const ReviewRecord& record) {
  const Timestamp now = clock_.Now();
  std::string object(record.group);
  object.append("/").append(record.kind).append("/").append(record.ns).append("/");
  object.append(record.name);
  for (const Finding& finding : record.findings) {
    if (finding.mode != Mode::kEnforce) continue;
    const std::string about =
        finding.key.empty() ? std::string(Name(finding.rule)) : finding.key.text;
    Denial fresh{.key = finding.key,
                 .resource = finding.resource,
                 .rule = std::string(Name(finding.rule)),
                 .cause = finding.cause,
                 .group = std::string(record.group),
                 .kind = std::string(record.kind),
                 .ns = std::string(record.ns),
                 .name = std::string(record.name),
                 .user = std::string(record.user),
                 .first = now,
                 .last = now,
                 .count = 1};
    book_.With([&](Book& book) {
      const Id id{about, object};
      const auto known = book.places.find(id);
      if (known != book.places.end()) {
        fresh.first = known->second->second.first;
        fresh.count = known->second->second.count + 1;
        book.denials.erase(known->second);
        book.places.erase(known);
      }
      book.denials.emplace_front(id, std::move(fresh));
      book.places.emplace(id, book.denials.begin());
      if (book.denials.size() <= kDenialsKept) return;
      book.places.erase(book.denials.back().first);
      book.denials.pop_back();
    });
  }
}

std::vector<Denial> DenialBook::All() const {
  return book_.With([](const Book& book) {
    std::vector<Denial> out;
    for (const auto& [id, denial] : book.denials) out.push_back(denial);
    return out;
  });
}

std::vector<Denial> DenialBook::OfKey(const KeyText& key, std::size_t limit) const {
  return book_.With([&](const Book& book) {
    std::vector<Denial> out;
    for (const auto& [id, denial] : book.denials) {
      if (out.size() == limit) break;
      if (denial.key == key) out.push_back(denial);
    }
    return out;
  });
}

}  // namespace truce
