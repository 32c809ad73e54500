#include "webhook/admission/repeated_refusals.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "policies/judge.h"
#include "policies/rules.h"
#include "registry/base/fingerprint.h"

namespace truce {

RefusalTopic TopicOf(const Slot& root, const ObjectFacts& object,
                     std::span<const Finding> findings) {
  Fingerprint text;
  text.Add(ToText(root));
  text.Add(object.slot.group);
  text.Add(object.slot.kind);
  const bool made_up = HasMadeUpName(object);
  for (const Finding& finding : findings) {
    if (finding.mode != Mode::kEnforce) continue;
    text.Add(Name(finding.rule));
    const std::string_view key = finding.key.text;
    if (!made_up || key.find(object.slot.name) == std::string_view::npos) text.Add(key);
  }
  return {text.value()};
}

RepeatedRefusals::Composite* RepeatedRefusals::Find(Book& book, const Uid& uid) {
  const auto found = book.by_uid.find(uid.text);
  return found == book.by_uid.end() ? nullptr : &*found->second;
}

RepeatedRefusals::Composite& RepeatedRefusals::Touch(Book& book, const Uid& uid) {
  const auto found = book.by_uid.find(uid.text);
  if (found != book.by_uid.end()) {
    book.composites.splice(book.composites.begin(), book.composites, found->second);
    return book.composites.front();
  }
  book.composites.emplace_front().uid = uid;
  book.by_uid.emplace(uid.text, book.composites.begin());
  if (book.composites.size() > kComposites) {
    book.by_uid.erase(book.composites.back().uid.text);
    book.composites.pop_back();
  }
  return book.composites.front();
}

RepeatedRefusals::Topic& RepeatedRefusals::Touch(Composite& composite, RefusalTopic topic) {
  std::list<Topic>& topics = composite.topics;
  const auto found = std::find_if(topics.begin(), topics.end(),
                                  [&](const Topic& known) { return known.topic == topic; });
  if (found != topics.end()) {
    topics.splice(topics.begin(), topics, found);
    return topics.front();
  }
  topics.emplace_front().topic = topic;
  if (topics.size() > kTopicsOfComposite) topics.pop_back();
  return topics.front();
}

RepeatedRefusals::Repetition RepeatedRefusals::Note(const ComposedRefusal& refusal, Timestamp now) {
  if (refusal.composite.uid.empty()) return {.count = 1};
  any_.store(true, std::memory_order_relaxed);
  return book_.With([&](Book& book) -> Repetition {
    Composite& composite = Touch(book, refusal.composite.uid);
    composite.last = now;
    Topic& topic = Touch(composite, refusal.topic);
    if (topic.count > 0 && now - topic.last > kRefusalForgotten) {
      topic = Topic();
      topic.topic = refusal.topic;
    }
    const bool stood = topic.stands;
    topic.kind = {refusal.object.group, refusal.object.kind};
    topic.last = now;
    ++topic.count;
    topic.recent.push_back(now);
    if (topic.recent.size() > kRepetitionsFree) topic.recent.pop_front();
    topic.stands = stood || (topic.recent.size() == kRepetitionsFree &&
                             now - topic.recent.front() <= kRepetitionWindow);
    topic.names.push_back(refusal.object.name);
    if (topic.names.size() > kNamesOfTopic) topic.names.pop_front();
    // A question is kept only where it will be asked again.
    if (topic.stands) {
      topic.asked.reset();
      topic.asked = Keep(refusal.asked);
    }
    return {topic.count, stood};
  });
}

std::shared_ptr<const ReviewCase> RepeatedRefusals::Keep(const ReviewCase& asked) const {
  if (asked.request.object.resources.size() > kAskedResourcesMax || *asked_ >= kAskedMax) {
    return nullptr;
  }
  auto kept = std::make_unique<ReviewCase>(asked);
  kept->request.parties = nullptr;  // of a policy that may end
  kept->request.unwatched = nullptr;
  ++*asked_;
  return {kept.release(), [count = asked_](const ReviewCase* ended) {
            delete ended;
            --*count;
          }};
}

bool RepeatedRefusals::IsKnown(const Uid& composite) const {
  return book_.With([&](const Book& book) { return book.by_uid.contains(composite.text); });
}

std::vector<StandingRefusal> RepeatedRefusals::StandingOf(const Uid& uid, Timestamp now) {
  return book_.With([&](Book& book) {
    std::vector<StandingRefusal> out;
    Composite* composite = Find(book, uid);
    if (composite == nullptr) return out;
    for (const Topic& topic : composite->topics) {
      if (!topic.stands || now - composite->last > kRefusalForgotten) continue;
      out.push_back({.topic = topic.topic,
                     .kind = topic.kind,
                     .names = {topic.names.begin(), topic.names.end()},
                     .asked = topic.asked,
                     .try_due = composite->changed || now - topic.last >= kTryAgain});
    }
    return out;
  });
}

void RepeatedRefusals::NoteChange(const Uid& uid) {
  book_.With([&](Book& book) {
    if (Composite* composite = Find(book, uid)) composite->changed = true;
  });
}

void RepeatedRefusals::NotePassed(const Uid& uid) {
  book_.With([&](Book& book) {
    if (Composite* composite = Find(book, uid)) composite->changed = false;
  });
}

std::uint64_t RepeatedRefusals::NoteKeptBack(const Uid& uid, Timestamp now) {
  return book_.With([&](Book& book) -> std::uint64_t {
    Composite* composite = Find(book, uid);
    if (composite == nullptr) return 1;
    composite->last = now;
    return ++composite->kept_back;
  });
}

void RepeatedRefusals::Forget(const Uid& uid, RefusalTopic topic) {
  book_.With([&](Book& book) {
    Composite* composite = Find(book, uid);
    if (composite == nullptr) return;
    std::erase_if(composite->topics, [&](const Topic& known) { return known.topic == topic; });
    if (!composite->topics.empty()) return;
    const auto found = book.by_uid.find(uid.text);
    book.composites.erase(found->second);
    book.by_uid.erase(found);
  });
}

}  // namespace truce
