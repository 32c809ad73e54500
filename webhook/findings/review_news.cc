#include "webhook/findings/review_news.h"

#include <utility>
#include <vector>

#include "registry/base/name_table.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/terms.h"
#include "registry/store/administration.h"
#include "registry/store/store.h"

namespace truce {
namespace {

using Sort = NewsItem::Sort;

constexpr NameTable<Sort::kProviderAct> kNewsSorts("admitted", "prove", "unknown", "deletion",
                                                   "check", "provider-act");

template <typename Item>
void AddBounded(const std::set<Item>& from, std::set<Item>& into) {
  for (const Item& item : from) {
    if (into.size() >= ReviewNews::kMax) return;
    into.insert(item);
  }
}

std::vector<TableRow> RowsOf(const ReviewNews& news) {
  std::vector<NewsItem> items;
  for (const GroupKind& kind : news.reviews.admitted) {
    items.push_back({Sort::kAdmitted, kind.kind, kind.group, {}, false, ""});
  }
  for (const RowId& row : news.reviews.prove) {
    const bool is_seen = row.state == RowState::kSeen;
    items.push_back({Sort::kProve, row.resource.text, "", row.uid, is_seen, ""});
  }
  for (const Slot& slot : news.reviews.unknown) {
    items.push_back({Sort::kUnknown, "", "", {}, false, ToText(slot)});
  }
  for (const Slot& slot : news.deletions) {
    items.push_back({Sort::kDeletion, "", "", {}, false, ToText(slot)});
  }
  for (const Uid& uid : news.checks) items.push_back({Sort::kCheck, "", "", uid, false, ""});
  for (const ProviderAct& act : news.provider_acts) {
    items.push_back({Sort::kProviderAct, act.user, "", {}, false, ToText(act.slot)});
  }
  return kReviewNewsTable.Rows(items);
}

void AddItem(NewsItem item, ReviewNews& news) {
  const auto slot = SlotFromText(item.slot);
  switch (item.sort) {
    case Sort::kAdmitted: news.reviews.admitted.insert({item.group, item.about}); return;
    case Sort::kProve:
      news.reviews.prove.insert(
          {{item.about}, item.uid, item.seen ? RowState::kSeen : RowState::kReserved});
      return;
    case Sort::kUnknown:
      if (slot) news.reviews.unknown.insert(*slot);
      return;
    case Sort::kDeletion:
      if (slot) news.deletions.insert(*slot);
      return;
    case Sort::kCheck: news.checks.insert(std::move(item.uid)); return;
    case Sort::kProviderAct:
      if (slot) news.provider_acts.insert({std::move(item.about), *slot});
  }
}

// Rows that cannot be read are left out: to lose some does no harm.
ReviewNews NewsIn(const std::vector<TableRow>& rows) {
  ReviewNews news;
  for (NewsItem& item : kReviewNewsTable.Readable(rows)) AddItem(std::move(item), news);
  return news;
}

// `change` gets the rows and gives those of from now on; it may run more than once.
template <typename Change>
Result<void> ChangeNews(Store& store, Change change, Deadline deadline) {
  return Administer(store, Timestamp(), deadline, [&](Administration& books) {
    books.SetTableRows(kReviewNewsTable, change(books.TableRows(kReviewNewsTable)));
  });
}

}  // namespace

std::string_view Name(Sort sort) { return kNewsSorts.Of(sort); }
std::optional<Sort> NewsSortFromName(std::string_view name) { return kNewsSorts.Find(name); }

void ReviewNews::Add(const ReviewNews& more) {
  AddBounded(more.reviews.admitted, reviews.admitted);
  AddBounded(more.reviews.prove, reviews.prove);
  AddBounded(more.reviews.unknown, reviews.unknown);
  AddBounded(more.deletions, deletions);
  AddBounded(more.checks, checks);
  AddBounded(more.provider_acts, provider_acts);
}

Result<void> TellNews(Store& store, const ReviewNews& news, Deadline deadline) {
  if (news.empty()) return {};
  const auto add = [&](const std::vector<TableRow>& rows) {
    ReviewNews all = NewsIn(rows);
    all.Add(news);
    return RowsOf(all);
  };
  return ChangeNews(store, add, deadline);
}

Result<ReviewNews> TakeNews(Store& store, Deadline deadline) {
  // Mostly there is nothing, which costs no transaction.
  std::vector<TableRow> taken;
  const auto look = [&](const Facts& facts) { taken = facts.TableRows(kReviewNewsTable, {}); };
  TRUCE_RETURN_IF_ERROR(store.Read({.tables = {kReviewNewsTable}}, look, deadline));
  if (taken.empty()) return ReviewNews();
  const auto take = [&](std::vector<TableRow> rows) {
    taken = std::move(rows);
    return std::vector<TableRow>();
  };
  TRUCE_RETURN_IF_ERROR(ChangeNews(store, take, deadline));
  return NewsIn(taken);
}

void NewsBox::DeletionAsked(const Slot& slot) {
  news_.With([&](ReviewNews& news) {
    if (news.deletions.size() < ReviewNews::kMax) news.deletions.insert(slot);
  });
}

void NewsBox::CheckAdmitted(const Uid& uid) {
  news_.With([&](ReviewNews& news) {
    if (news.checks.size() < ReviewNews::kMax) news.checks.insert(uid);
  });
}

void NewsBox::ProviderActed(const ProviderAct& act) {
  news_.With([&](ReviewNews& news) {
    if (news.provider_acts.size() < ReviewNews::kMax) news.provider_acts.insert(act);
  });
}

void NewsBox::PutBack(const ReviewNews& news) {
  news_.With([&](ReviewNews& present) { present.Add(news); });
}

ReviewNews NewsBox::Take() {
  return news_.With([](ReviewNews& news) { return std::exchange(news, ReviewNews()); });
}

}  // namespace truce
