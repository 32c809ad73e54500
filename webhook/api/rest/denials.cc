#include "webhook/api/rest/denials.h"

namespace truce {

void DenialBook::OnReview(const ReviewRecord& record) {
  if (record.verdict != Verdict::kDenied) return;
  const Timestamp now = clock_.Now();
  std::string id;
  for (const Finding& finding : record.findings) {
    if (finding.mode != Mode::kEnforce) continue;
    id = finding.key.empty() ? Name(finding.rule) : std::string_view(finding.key.text);
    id.append(1, '\n').append(record.group).append(1, '/').append(record.kind);
    id.append(1, '/').append(record.ns).append(1, '/').append(record.name);
    book_.With([&](Book& book) {
      Denial& denial = Enter(id, record, finding, book);
      if (denial.count == 1) denial.first = now;
      denial.last = now;
    });
  }
}

// The same refusal comes again and again: what its id does not tell is written over, which takes no
// memory.
Denial& DenialBook::Enter(const std::string& id, const ReviewRecord& record, const Finding& finding,
                          Book& book) {
  const auto known = book.places.find(id);
  if (known != book.places.end()) {
    book.entries.splice(book.entries.begin(), book.entries, known->second);
  } else {
    Entries fresh(1);
    fresh.front().id = id;
    Denial& denial = fresh.front().denial;
    denial.key = finding.key;
    denial.group = record.group;
    denial.kind = record.kind;
    denial.ns = record.ns;
    denial.name = record.name;
    book.places.emplace(fresh.front().id, fresh.begin());
    book.entries.splice(book.entries.begin(), fresh);
    if (book.entries.size() > kDenialsKept) {
      book.places.erase(book.entries.back().id);
      book.entries.pop_back();
    }
  }
  Denial& denial = book.entries.front().denial;
  denial.resource = finding.resource;
  denial.rule = Name(finding.rule);
  denial.cause = finding.cause;
  denial.user = record.user;
  ++denial.count;
  return denial;
}

std::vector<Denial> DenialBook::All() const {
  return book_.With([](const Book& book) {
    std::vector<Denial> out;
    for (const Entry& entry : book.entries) out.push_back(entry.denial);
    return out;
  });
}

std::vector<Denial> DenialBook::OfKey(const KeyText& key, std::size_t limit) const {
  return book_.With([&](const Book& book) {
    std::vector<Denial> out;
    for (const Entry& entry : book.entries) {
      if (out.size() == limit) break;
      if (entry.denial.key == key) out.push_back(entry.denial);
    }
    return out;
  });
}

}  // namespace truce
