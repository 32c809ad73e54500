#include "registry/store/sqlite/known.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "registry/store/adapter.h"

namespace truce {
namespace {

// Layout of a blob: since (8 bytes), flags (1), then texts. The key comes first, so that a lookup
// compares without unpacking.
constexpr std::size_t kKeyOffset = 9;
constexpr unsigned kRealBit = 1U;
constexpr unsigned kRecordShift = 1U;  // two bits
constexpr unsigned kStateShift = 3U;   // two bits
constexpr unsigned kContestedBit = 1U << 5U;
constexpr unsigned kManagedOnceBit = 1U << 6U;

CountedAs CountedIn(const char* blob) {
  const auto flags = static_cast<unsigned char>(blob[sizeof(std::int64_t)]);
  return {static_cast<Record>((flags >> kRecordShift) & 3U),
          static_cast<HolderState>((flags >> kStateShift) & 3U), (flags & kContestedBit) != 0U};
}

std::string Pack(const OwnerTexts& texts, Beginnings& beginnings) {
  constexpr std::size_t kUsualBytes = 512;
  std::string packed;
  packed.reserve(kUsualBytes);
  packed.resize(sizeof(texts.since));
  std::memcpy(packed.data(), &texts.since, sizeof(texts.since));
  const unsigned flags = (texts.real ? kRealBit : 0U) | (texts.contested ? kContestedBit : 0U) |
                         (texts.managed_once ? kManagedOnceBit : 0U) |
                         (static_cast<unsigned>(texts.record) << kRecordShift) |
                         (static_cast<unsigned>(texts.state) << kStateShift);
  packed.push_back(static_cast<char>(flags));
  TextPacker packer(packed, beginnings);
  packer.Split(SplitKey(texts.key));
  packer.Split(texts.key, SplitSlot(texts.root));
  packer.Split(texts.key, SplitKey(texts.identity));
  packer.Text(texts.id);
  packer.Relative(texts.root, texts.party);
  packer.Text(texts.service);
  packer.Relative(texts.service, texts.contact);
  packer.Split(texts.key, SplitArn(texts.arn));
  packer.Relative(texts.key, texts.name);
  packer.Relative(texts.key, texts.shape);
  packer.Text(texts.record_reason);
  packer.Text(texts.successor);
  packer.Relative(texts.root, texts.leaf);
  packer.Text(texts.left);
  return packed;
}

std::unique_ptr<char[]> Copied(const std::string& packed) {
  std::unique_ptr<char[]> blob(new char[packed.size()]);
  std::memcpy(blob.get(), packed.data(), packed.size());
  return blob;
}

// The first texts of a blob: those that tell where its owner counts.
std::optional<Place> PlaceIn(const char* blob, const Beginnings& beginnings) {
  std::array<std::byte, 512> usual;
  std::pmr::monotonic_buffer_resource memory(usual.data(), usual.size());
  TextUnpacker unpacker(blob + kKeyOffset, beginnings, memory);
  const std::string_view key = unpacker.Split();
  const std::string_view root = unpacker.Split(key);
  return PlaceFromTexts(root, unpacker.Split(key));
}

// Texts of usual length need no memory of the heap.
constexpr std::size_t kUsualTextBytes = 1024;

// They live as long as the blob and `memory`.
OwnerTexts TextsIn(const char* blob, const Beginnings& beginnings,
                   std::pmr::memory_resource& memory) {
  OwnerTexts texts;
  std::memcpy(&texts.since, blob, sizeof(texts.since));
  const auto flags = static_cast<unsigned char>(blob[sizeof(texts.since)]);
  texts.real = (flags & kRealBit) != 0U;
  texts.contested = (flags & kContestedBit) != 0U;
  texts.managed_once = (flags & kManagedOnceBit) != 0U;
  const CountedAs counted = CountedIn(blob);
  texts.record = counted.record;
  texts.state = counted.state;
  TextUnpacker unpacker(blob + kKeyOffset, beginnings, memory);
  texts.key = unpacker.Split();
  texts.root = unpacker.Split(texts.key);
  texts.identity = unpacker.Split(texts.key);
  texts.id = unpacker.Text();
  texts.party = unpacker.Relative(texts.root);
  texts.service = unpacker.Text();
  texts.contact = unpacker.Relative(texts.service);
  texts.arn = unpacker.Split(texts.key);
  texts.name = unpacker.Relative(texts.key);
  texts.shape = unpacker.Relative(texts.key);
  texts.record_reason = unpacker.Text();
  texts.successor = unpacker.Text();
  texts.leaf = unpacker.Relative(texts.root);
  texts.left = unpacker.Text();
  return texts;
}

Result<void> Unpack(const char* blob, const Beginnings& beginnings, Owner& owner) {
  std::array<std::byte, kUsualTextBytes> usual;
  std::pmr::monotonic_buffer_resource memory(usual.data(), usual.size());
  return FillOwner(TextsIn(blob, beginnings, memory), owner);
}

}  // namespace

auto OwnerIndex::IsOf(std::string_view key) const {
  return [this, key](const Blob& blob) {
    std::pmr::memory_resource& none = *std::pmr::null_memory_resource();
    // To compare needs no memory; a change that made it need some fails at once instead of slowly.
    return TextUnpacker(blob.get() + kKeyOffset, beginnings_, none).IsSplit(key);
  };
}

const OwnerIndex::Blob* OwnerIndex::BlobOf(std::string_view key) const {
  return blobs_.Find(HashOf(key), IsOf(key));
}

Result<void> OwnerIndex::Find(std::string_view key, std::optional<Owner>& owner) const {
  const Blob* const blob = BlobOf(key);
  owner.reset();
  if (blob == nullptr) return {};
  Result<void> unpacked = Unpack(blob->get(), beginnings_, owner.emplace());
  if (!unpacked.ok()) owner.reset();
  return unpacked;
}

bool OwnerIndex::Contains(std::string_view key) const { return BlobOf(key) != nullptr; }

std::optional<CountedAs> OwnerIndex::CountsAs(std::string_view key) const {
  const Blob* const blob = BlobOf(key);
  return blob == nullptr ? std::nullopt : std::optional(CountedIn(blob->get()));
}

std::optional<Place> OwnerIndex::PlaceOf(std::string_view key) const {
  const Blob* const blob = BlobOf(key);
  return blob == nullptr ? std::nullopt : PlaceIn(blob->get(), beginnings_);
}

std::vector<KeyText> OwnerIndex::KeysOfShape(std::string_view shape, std::size_t limit) const {
  std::vector<KeyText> keys;
  if (shape.empty()) return keys;
  by_shape_.Find(HashOf(shape), [&](const char* blob) {
    std::array<std::byte, kUsualTextBytes> usual;
    std::pmr::monotonic_buffer_resource memory(usual.data(), usual.size());
    const OwnerTexts texts = TextsIn(blob, beginnings_, memory);
    // Hashes of two shapes may be equal.
    if (texts.shape == shape) keys.push_back({std::string(texts.key)});
    return false;
  });
  std::sort(keys.begin(), keys.end());
  if (keys.size() > limit) keys.resize(limit);
  return keys;
}

void OwnerIndex::Put(const Owner& owner) {
  const std::string root = ToText(owner.root);
  const std::string identity = ToText(owner.identity);
  const std::string left = SlotLines(owner.left);
  const std::string leaf = owner.leaf.has_value() ? ToText(*owner.leaf) : std::string();
  OwnerTexts texts;
  texts.key = owner.key.text;
  texts.id = owner.id.text;
  texts.root = root;
  texts.party = owner.party.text;
  texts.service = owner.service;
  texts.contact = owner.contact;
  texts.arn = owner.arn;
  texts.name = owner.name;
  texts.identity = identity;
  texts.shape = owner.shape;
  texts.record_reason = owner.record_reason;
  texts.contested = owner.contested;
  texts.successor = owner.successor;
  texts.leaf = leaf;
  texts.left = left;
  texts.since = owner.since.time_since_epoch().count();
  texts.real = owner.real;
  texts.managed_once = owner.managed_once;
  texts.record = owner.record;
  texts.state = owner.state;
  Put(texts);
}

OwnerIndex::Blob OwnerIndex::BlobWith(const OwnerTexts& texts) {
  return Copied(Pack(texts, beginnings_));
}

void OwnerIndex::Load(const OwnerTexts& texts) {
  Blob blob = BlobWith(texts);
  if (!texts.shape.empty()) by_shape_.Append(HashOf(texts.shape), blob.get());
  blobs_.Append(HashOf(texts.key), std::move(blob));
}

void OwnerIndex::Loaded() {
  by_shape_.Settle();
  blobs_.Settle();
}

void OwnerIndex::Put(const OwnerTexts& texts) {
  Blob blob = BlobWith(texts);
  const TextHash hash = HashOf(texts.key);
  Blob* const found = blobs_.Find(hash, IsOf(texts.key));
  if (found != nullptr) Forget(found->get());
  if (!texts.shape.empty()) by_shape_.Insert(HashOf(texts.shape), blob.get());
  if (found != nullptr) {
    *found = std::move(blob);
  } else {
    blobs_.Insert(hash, std::move(blob));
  }
}

void OwnerIndex::Erase(std::string_view key) {
  const TextHash hash = HashOf(key);
  const Blob* const found = blobs_.Find(hash, IsOf(key));
  if (found == nullptr) return;
  Forget(found->get());
  blobs_.Erase(hash, IsOf(key));
}

void OwnerIndex::Forget(const char* blob) {
  std::array<std::byte, kUsualTextBytes> usual;
  std::pmr::monotonic_buffer_resource memory(usual.data(), usual.size());
  const std::string_view shape = TextsIn(blob, beginnings_, memory).shape;
  if (shape.empty()) return;
  by_shape_.Erase(HashOf(shape), [blob](const char* each) { return each == blob; });
}

namespace {

// Layout of a blob: at (8 bytes), flags (1), the name, and relative to it the key. The name comes
// first, so that a lookup compares without unpacking.
constexpr std::size_t kNameOffset = 9;
constexpr unsigned kObservedBit = 1U;
constexpr unsigned kSortShift = 1U;  // two bits

std::string Pack(const ResourceName& name, Beginnings& beginnings) {
  const std::int64_t at = name.at.time_since_epoch().count();
  std::string packed(sizeof(at), '\0');
  std::memcpy(packed.data(), &at, sizeof(at));
  const unsigned flags =
      (name.observed ? kObservedBit : 0U) | (static_cast<unsigned>(name.sort) << kSortShift);
  packed.push_back(static_cast<char>(flags));
  TextPacker packer(packed, beginnings);
  packer.Split(SplitKey(name.name.text));
  packer.Split(name.name.text, SplitKey(name.key.text));
  return packed;
}

ResourceName Unpack(const char* blob, const Beginnings& beginnings) {
  // Texts of usual length need no memory of the heap.
  std::array<std::byte, 512> usual;
  std::pmr::monotonic_buffer_resource memory(usual.data(), usual.size());
  std::int64_t at = 0;
  std::memcpy(&at, blob, sizeof(at));
  const auto flags = static_cast<unsigned char>(blob[sizeof(at)]);
  TextUnpacker unpacker(blob + kNameOffset, beginnings, memory);
  ResourceName unpacked;
  unpacked.name.text = unpacker.Split();
  unpacked.key.text = unpacker.Split(unpacked.name.text);
  unpacked.sort = static_cast<NameSort>(flags >> kSortShift);
  unpacked.observed = (flags & kObservedBit) != 0U;
  unpacked.at = Timestamp(std::chrono::milliseconds(at));
  return unpacked;
}

}  // namespace

auto NameIndex::IsNamed(std::string_view name) const {
  return [this, name](const Blob& blob) {
    std::pmr::memory_resource& none = *std::pmr::null_memory_resource();
    return TextUnpacker(blob.get() + kNameOffset, beginnings_, none).IsSplit(name);
  };
}

std::optional<ResourceName> NameIndex::Find(std::string_view name) const {
  const Blob* const blob = blobs_.Find(HashOf(name), IsNamed(name));
  return blob == nullptr ? std::nullopt : std::optional(Unpack(blob->get(), beginnings_));
}

std::vector<ResourceName> NameIndex::OfKey(std::string_view key) const {
  std::vector<ResourceName> found;
  by_key_.Find(HashOf(key), [&](const char* blob) {
    ResourceName name = Unpack(blob, beginnings_);
    // Hashes of two keys may be equal.
    if (name.key.text == key) found.push_back(std::move(name));
    return false;
  });
  std::sort(found.begin(), found.end(),
            [](const ResourceName& a, const ResourceName& b) { return a.name < b.name; });
  return found;
}

NameIndex::Blob NameIndex::BlobWith(const ResourceName& name) {
  return Copied(Pack(name, beginnings_));
}

void NameIndex::Load(const ResourceName& name) {
  Blob blob = BlobWith(name);
  by_key_.Append(HashOf(name.key.text), blob.get());
  blobs_.Append(HashOf(name.name.text), std::move(blob));
}

void NameIndex::Loaded() {
  by_key_.Settle();
  blobs_.Settle();
}

void NameIndex::Put(const ResourceName& name) {
  // By its key the blob is found as well: replaced where it lies, it would be found by the old one.
  Erase(name.name.text);
  Blob blob = BlobWith(name);
  by_key_.Insert(HashOf(name.key.text), blob.get());
  blobs_.Insert(HashOf(name.name.text), std::move(blob));
}

void NameIndex::Erase(std::string_view name) {
  const TextHash hash = HashOf(name);
  const Blob* const found = blobs_.Find(hash, IsNamed(name));
  if (found == nullptr) return;
  const char* const blob = found->get();
  const TextHash key_hash = HashOf(Unpack(blob, beginnings_).key.text);
  by_key_.Erase(key_hash, [blob](const char* each) { return each == blob; });
  blobs_.Erase(hash, IsNamed(name));
}

namespace {

// For so many commits a deleted row keeps its signpost: longer than short reads take, and little
// memory.
constexpr std::uint64_t kCommitsKept = 1000;

// One of several equal entries: a row's id may serve again while its old post stands.
void EraseFrom(HashTable<std::int64_t>& table, const std::pair<TextHash, std::int64_t>& entry) {
  table.Erase(entry.first, [&](std::int64_t id) { return id == entry.second; });
}
void EraseFrom(Numbers& numbers, const std::pair<TextHash, std::int64_t>& entry) {
  numbers.Erase(entry.first, entry.second);
}

}  // namespace

template <typename Table>
template <typename Find>
std::optional<std::vector<std::int64_t>> Posts<Table>::FindAt(std::uint64_t version,
                                                              const Find& find) const {
  std::shared_lock lock(mutex_);
  // What that snapshot has may have lost its post.
  if (version + kCommitsKept < version_) return std::nullopt;
  return find(table_);
}

template <typename Table>
void Posts<Table>::Add(std::string_view text, std::int64_t id) {
  const Entry entry(HashOf(text), id);
  std::unique_lock lock(mutex_);
  // Before the commit, so that no reader of it misses the row; earlier ones look for nothing once.
  table_.Insert(entry.first, entry.second);
  added_.push_back(entry);
}

template <typename Table>
void Posts<Table>::Drop(std::string_view text, std::int64_t id) {
  std::unique_lock lock(mutex_);
  dropped_.emplace_back(HashOf(text), id);
}

template <typename Table>
void Posts<Table>::Commit(std::uint64_t version) {
  std::unique_lock lock(mutex_);
  version_ = version;
  added_.clear();
  for (const Entry& entry : dropped_) leaving_.emplace_back(version, entry);
  dropped_.clear();
  while (!leaving_.empty() && leaving_.front().first + kCommitsKept < version) {
    EraseFrom(table_, leaving_.front().second);
    leaving_.pop_front();
  }
}

template <typename Table>
void Posts<Table>::Rollback() {
  std::unique_lock lock(mutex_);
  for (const Entry& entry : added_) EraseFrom(table_, entry);
  added_.clear();
  dropped_.clear();
}

template <typename Table>
void Posts<Table>::Load(std::string_view text, std::int64_t id) {
  if constexpr (std::is_same_v<Table, Numbers>) {
    table_.Insert(HashOf(text), id);
  } else {
    table_.Append(HashOf(text), id);
  }
}

template <typename Table>
void Posts<Table>::Loaded() {
  if constexpr (!std::is_same_v<Table, Numbers>) table_.Settle();
}

template class Posts<HashTable<std::int64_t>>;
template class Posts<Numbers>;

std::optional<std::vector<std::int64_t>> Signposts::Find(std::string_view text,
                                                         std::uint64_t version) const {
  return FindAt(version, [&](const HashTable<std::int64_t>& table) {
    std::vector<std::int64_t> found;
    table.Find(HashOf(text), [&](std::int64_t id) {
      // A row that went and came back has two.
      if (std::find(found.begin(), found.end(), id) == found.end()) found.push_back(id);
      return false;
    });
    return found;
  });
}

std::optional<std::vector<std::int64_t>> KindPosts::After(std::string_view kind, std::int64_t after,
                                                          std::size_t limit,
                                                          std::uint64_t version) const {
  return FindAt(version,
                [&](const Numbers& numbers) { return numbers.After(HashOf(kind), after, limit); });
}

void NameChanges::Put(const ResourceName& name) {
  by_name_.insert_or_assign(name.name, &name);
  by_key_.emplace(name.key, &name);
}

void NameChanges::Drop(const KeyText& name) { by_name_.insert_or_assign(name, nullptr); }

void NameChanges::clear() {
  by_name_.clear();
  by_key_.clear();
}

std::vector<const ResourceName*> NameChanges::PutAt(const KeyText& key) const {
  std::vector<const ResourceName*> put;
  const auto [first, last] = by_key_.equal_range(key);
  for (auto it = first; it != last; ++it) {
    // Since then it may have been dropped, or put at another key.
    if (by_name_.at(it->second->name) == it->second) put.push_back(it->second);
  }
  return put;
}

Result<void> Known::OwnerOf(const KeyText& key, std::optional<Owner>& owner,
                            std::uint64_t& version) const {
  std::shared_lock lock(mutex_);
  version = version_;
  return owners_.Find(key.text, owner);
}

Known::Presence Known::PresenceOf(const KeyText& key) const {
  std::shared_lock lock(mutex_);
  const bool has_owner = owners_.Contains(key.text);
  return {has_owner, has_owner || without_owner_.contains(key.text), version_};
}

std::optional<ResourceName> Known::FurtherName(const KeyText& name, std::uint64_t& version) const {
  std::shared_lock lock(mutex_);
  version = version_;
  return names_.Find(name.text);
}

std::vector<ResourceName> Known::FurtherNamesOf(const KeyText& key, std::uint64_t& version) const {
  std::shared_lock lock(mutex_);
  version = version_;
  return names_.OfKey(key.text);
}

std::vector<KeyText> Known::KeysOfShape(std::string_view shape, std::size_t limit,
                                        std::uint64_t& version) const {
  std::shared_lock lock(mutex_);
  version = version_;
  return owners_.KeysOfShape(shape, limit);
}

StoreCounts Known::Counts() const {
  std::shared_lock lock(mutex_);
  return counts_;
}

std::optional<Place> Known::PlaceOf(const KeyText& key) const {
  std::shared_lock lock(mutex_);
  return owners_.PlaceOf(key.text);
}

std::uint64_t Known::CountOwned(const OwnedRange& range) const {
  std::shared_lock lock(mutex_);
  return tally_.Count(range);
}

std::vector<PlaceCount> Known::PlacesOf(std::string_view type, std::size_t limit) const {
  std::shared_lock lock(mutex_);
  return tally_.PlacesOf(type, limit);
}

std::size_t Known::CountReserved(const ReservedRange& range, const std::set<GroupKind>& left_out,
                                 std::size_t limit, const ReservationChanges& changes) const {
  std::shared_lock lock(mutex_);
  return reserved_.Count(range, left_out, limit, changes);
}

void Known::Commit(const Written& written, std::uint64_t version) {
  std::unique_lock lock(mutex_);
  tally_.Add(written.places);
  for (const auto& [reservation, count] : written.reservations) reserved_.Add(reservation, count);
  for (const auto& [key, change] : written.keys) Bring(key, change);
  for (const auto& [text, name] : written.names.by_name()) {
    name == nullptr ? names_.Erase(text.text) : names_.Put(*name);
  }
  version_ = version;
}

void Known::Bring(const KeyText& key, const KeyChange& change) {
  bool has_owner = change.owner != nullptr;
  if (change.owner_changed) {
    if (const auto before = owners_.CountsAs(key.text)) CountOut(counts_, *before);
    if (change.owner != nullptr) {
      CountIn(counts_, CountsAs(*change.owner));
      owners_.Put(*change.owner);
    } else {
      owners_.Erase(key.text);
    }
  } else {
    has_owner = owners_.Contains(key.text);
  }
  if (change.has_rows && !has_owner) {
    without_owner_.insert(key.text);
  } else {
    without_owner_.erase(key.text);
  }
}

void Known::LoadOwner(const OwnerTexts& texts) {
  CountIn(counts_, {texts.record, texts.state, texts.contested});
  if (const auto place = PlaceFromTexts(texts.root, texts.identity)) tally_.Add(*place, 1);
  owners_.Load(texts);
}

void Known::LoadRowsWithoutOwner(std::string_view key) { without_owner_.emplace(key); }

void Known::LoadName(const ResourceName& name) { names_.Load(name); }

void Known::LoadReservation(const Reservation& reservation) { reserved_.Add(reservation, 1); }

void Known::LoadVersion(std::uint64_t version) { version_ = version; }

void Known::Loaded() {
  owners_.Loaded();
  names_.Loaded();
}

}  // namespace truce
