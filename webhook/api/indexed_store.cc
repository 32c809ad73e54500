#include "webhook/api/indexed_store.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "registry/base/assert.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

constexpr std::size_t kLoadPage = 200;
constexpr std::chrono::seconds kReadWithin{5};
// A commit that its caller did not wait for has ended by then, or failed.
constexpr std::chrono::seconds kUnsureFor{60};
constexpr std::size_t kUnsureMax = 10'000;
// Some of what the first brings into the processor's cache serves those entered with it.
constexpr std::size_t kEnteredAtOnce = 64;
// Counted in one go: commits wait for it, a millisecond or so.
constexpr std::size_t kPlacesAtOnce = 5000;

Deadline Soon() { return std::chrono::steady_clock::now() + kReadWithin; }

Error NotOpen() { return Error{ErrorCode::kUnavailable, "the store is not open yet"}; }

}  // namespace

struct IndexedStore::Decided {
  // Those of a store follow each other, in the order of their commits.
  std::uint64_t number = 0;
  std::vector<KeyText> dropped;
  std::vector<Directory::Item> put;

  bool is_some() const { return !dropped.empty() || !put.empty(); }
  std::vector<KeyText> Keys() const {
    std::vector<KeyText> keys = dropped;
    for (const Directory::Item& item : put) keys.push_back(item.key);
    return keys;
  }
};

void IndexedStore::Open(std::unique_ptr<Store> store) {
  TRUCE_ASSERT(store != nullptr && opened() == nullptr);
  owned_ = std::move(store);
  Open(*owned_);
}

void IndexedStore::Open(Store& store) {
  TRUCE_ASSERT(opened() == nullptr);
  store_.store(&store, std::memory_order_release);
}

const OwnerFinder* IndexedStore::own_index() const {
  const Store* store = opened();
  return store == nullptr ? nullptr : store->index();
}

Result<void> IndexedStore::Fill(const std::atomic<bool>& stop) {
  if (own_index() != nullptr) return {};
  KeyText after;
  bool done = false;
  while (!done && !stop.load(std::memory_order_relaxed)) {
    // Under the lock: what is read is not older than what commits enter.
    TRUCE_RETURN_IF_ERROR(state_.With([&](State& state) {
      std::vector<Owner> page;
      const auto look = [&](const Facts& facts) {
        page = facts.OwnersIn(OwnerList::kAll, after, kLoadPage);
      };
      Result<void> read = Read(look, Soon());
      if (!read.ok()) return read;
      for (const Owner& owner : page) state.directory.Put(owner);
      done = page.size() < kLoadPage;
      if (!page.empty()) after = page.back().key;
      return read;
    }));
  }
  if (done) filled_.store(true, std::memory_order_release);
  return {};
}

Result<void> IndexedStore::Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) {
  Store* store = opened();
  if (store == nullptr) return NotOpen();
  if (store->index() != nullptr) return store->Apply(locks, decide, deadline);
  const auto decided = std::make_shared<Decided>();
  const auto note = [&](const AllFacts& facts) {
    Changes changes = decide(facts);
    *decided = Note(changes);
    return changes;
  };
  Result<void> applied = store->Apply(locks, note, deadline);
  // A commit of which nobody knows the outcome may come later: its owners are looked up again for a
  // while.
  if (!decided->is_some()) return applied;
  const bool unsure = !applied.ok() && applied.error().code == ErrorCode::kDeadlineExceeded;
  if (!applied.ok() && !unsure) return applied;
  state_.With([&](State& state) {
    if (!unsure) return Enter(decided, state);
    std::vector<KeyText> keys = decided->Keys();
    state.newest = std::max(state.newest, decided->number);
    static_cast<void>(ReadOwners(keys, state));
    if (state.unsure.size() + keys.size() > kUnsureMax) return;
    const Deadline until = std::chrono::steady_clock::now() + kUnsureFor;
    for (KeyText& key : keys) state.unsure.emplace_back(std::move(key), until);
  });
  return applied;
}

void IndexedStore::Submit(const Locks& locks, DecideFn decide, Deadline deadline, OnDone done) {
  Store* store = opened();
  if (store == nullptr) return done(NotOpen());
  if (store->index() != nullptr) {
    return store->Submit(locks, std::move(decide), deadline, std::move(done));
  }
  const std::shared_ptr<void> submitted = Count();
  const auto decided = std::make_shared<Decided>();
  auto note = [this, decide = std::move(decide), decided](const AllFacts& facts) {
    Changes changes = decide(facts);
    *decided = Note(changes);
    return changes;
  };
  auto enter = [this, submitted, decided, done = std::move(done)](Result<void> applied) {
    // Nothing is unsure here: a commit that has begun is waited for, past the deadline too.
    if (applied.ok() && decided->is_some()) {
      state_.With([&](State& state) { Enter(decided, state); });
    }
    done(std::move(applied));
  };
  store->Submit(locks, std::move(note), deadline, std::move(enter));
}

Result<void> IndexedStore::ReadAbout(const Locks& hints, const ReadFn& read,
                                     Deadline deadline) const {
  const Store* store = opened();
  return store == nullptr ? Result<void>(NotOpen()) : store->ReadAbout(hints, read, deadline);
}

bool IndexedStore::is_remote() const {
  const Store* store = opened();
  return store != nullptr && store->is_remote();
}

Result<void> IndexedStore::Read(const ReadFn& read, Deadline deadline) const {
  const Store* store = opened();
  return store == nullptr ? Result<void>(NotOpen()) : store->Read(read, deadline);
}

StoreCounts IndexedStore::Counts() const {
  const Store* store = opened();
  return store == nullptr ? StoreCounts{} : store->Counts();
}

Result<StoreContents> IndexedStore::Contents() const {
  const Store* store = opened();
  return store == nullptr ? Result<StoreContents>(NotOpen()) : store->Contents();
}

Result<void> IndexedStore::Health() const {
  const Store* store = opened();
  return store == nullptr ? Result<void>(NotOpen()) : store->Health();
}

std::optional<Error> IndexedStore::FatalFailure() const {
  const Store* store = opened();
  return store == nullptr ? std::nullopt : store->FatalFailure();
}

Result<OwnerFinder::KeysById> IndexedStore::WithIds(const std::vector<PublicId>& ids,
                                                    std::size_t limit, Deadline deadline) const {
  if (const OwnerFinder* own = own_index()) return own->WithIds(ids, limit, deadline);
  return With([&](const Directory& directory) {
    KeysById keys;
    for (const PublicId& id : ids) keys.try_emplace(id, directory.WithId(id, limit));
    return keys;
  });
}

Result<std::vector<KeyText>> IndexedStore::WithName(std::string_view name, std::size_t limit,
                                                    Deadline deadline) const {
  if (const OwnerFinder* own = own_index()) return own->WithName(name, limit, deadline);
  return With([&](const Directory& directory) { return directory.WithName(name, limit); });
}

Result<std::vector<KeyText>> IndexedStore::WithArn(std::string_view arn, std::size_t limit,
                                                   Deadline deadline) const {
  if (const OwnerFinder* own = own_index()) return own->WithArn(arn, limit, deadline);
  return With([&](const Directory& directory) { return directory.WithArn(arn, limit); });
}

Result<std::vector<KeyText>> IndexedStore::OfService(const std::string& service,
                                                     const KeyText& after, std::size_t limit,
                                                     Deadline deadline) const {
  if (const OwnerFinder* own = own_index()) return own->OfService(service, after, limit, deadline);
  return With(
      [&](const Directory& directory) { return directory.OfService(service, after, limit); });
}

Result<std::vector<ServiceCount>> IndexedStore::Services(const std::string& after,
                                                         std::size_t limit,
                                                         Deadline deadline) const {
  if (const OwnerFinder* own = own_index()) return own->Services(after, limit, deadline);
  return With([&](const Directory& directory) { return directory.Services(after, limit); });
}

// The directory's are those of all owners, whatever kind they are of.
Result<std::set<std::string>> IndexedStore::NamespacesOf(const std::string& cluster,
                                                         const std::set<GroupKind>& kinds,
                                                         Deadline deadline) const {
  if (const OwnerFinder* own = own_index()) return own->NamespacesOf(cluster, kinds, deadline);
  return With([](const Directory& directory) { return directory.namespaces(); });
}

Result<void> IndexedStore::CountAll(const CountFn& count, Deadline deadline) const {
  if (const OwnerFinder* own = own_index()) return own->CountAll(count, deadline);
  std::optional<std::size_t> place = 0;
  while (place) {
    if (std::chrono::steady_clock::now() > deadline) {
      return Error{ErrorCode::kDeadlineExceeded, "counting all ownerships took too long"};
    }
    TRUCE_ASSIGN_OR_RETURN(
        place, With([&](const Directory& directory) {
          return directory.Visit(
              *place, kPlacesAtOnce,
              [&](std::string_view key, std::string_view service) { count(key, service, 1); });
        }));
  }
  return {};
}

// Counts a call as submitted for as long as the result lives.
std::shared_ptr<void> IndexedStore::Count() {
  {
    std::lock_guard lock(submitted_mutex_);
    ++submitted_;
  }
  return {nullptr, [this](void*) {
            std::lock_guard lock(submitted_mutex_);
            if (--submitted_ == 0) none_submitted_.notify_all();
          }};
}

IndexedStore::~IndexedStore() {
  std::unique_lock lock(submitted_mutex_);
  none_submitted_.wait(lock, [this] { return submitted_ == 0; });
}

IndexedStore::Decided IndexedStore::Note(const Changes& changes) {
  return {++decided_, changes.drop_owners, {changes.put_owners.begin(), changes.put_owners.end()}};
}

void IndexedStore::Enter(std::shared_ptr<Decided> decided, State& state) const {
  state.waiting_keys += decided->dropped.size() + decided->put.size();
  state.waiting.push_back(std::move(decided));
  if (state.waiting_keys >= kEnteredAtOnce) EnterWaiting(state);
}

// As it was decided, unless a later one was entered already: to read is the dear way to know which
// of the two it is.
void IndexedStore::EnterWaiting(State& state) const {
  std::vector<const Directory::Item*> items;
  for (const std::shared_ptr<Decided>& decided : state.waiting) {
    for (const Directory::Item& item : decided->put) items.push_back(&item);
  }
  state.directory.Expect(items);
  for (const std::shared_ptr<Decided>& decided : state.waiting) {
    if (decided->number < state.newest) {
      static_cast<void>(ReadOwners(decided->Keys(), state));
      continue;
    }
    state.newest = decided->number;
    for (const KeyText& key : decided->dropped) state.directory.Erase(key);
    for (const Directory::Item& item : decided->put) state.directory.Put(item);
  }
  state.waiting.clear();
  state.waiting_keys = 0;
}

bool IndexedStore::ReadOwners(const std::vector<KeyText>& keys, State& state) const {
  std::vector<std::optional<Owner>> owners;
  const auto look = [&](const Facts& facts) {
    owners.clear();
    for (const KeyText& key : keys) owners.push_back(facts.OwnerOf(key));
  };
  Locks about;
  about.keys = keys;
  if (!ReadAbout(about, look, Soon()).ok()) return false;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (owners[i]) {
      state.directory.Put(*owners[i]);
    } else {
      state.directory.Erase(keys[i]);
    }
  }
  return true;
}

void IndexedStore::ReadAgain(State& state) const {
  if (state.unsure.empty()) return;
  const Deadline now = std::chrono::steady_clock::now();
  std::vector<KeyText> keys;
  for (const auto& [key, until] : state.unsure) keys.push_back(key);
  if (!ReadOwners(keys, state)) return;
  std::erase_if(state.unsure, [&](const auto& each) { return each.second <= now; });
}

}  // namespace truce
