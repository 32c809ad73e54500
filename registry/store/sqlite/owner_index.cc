#include "registry/store/sqlite/owner_index.h"

#include <array>
#include <cstring>
#include <memory_resource>
#include <string>

#include "registry/store/sqlite/packed_text.h"

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

std::string_view KeyIn(const char* blob) {
  return TextUnpacker(blob + kKeyOffset, *std::pmr::null_memory_resource()).Text();
}

// Whether a blob is that of the key.
auto IsOf(std::string_view key) {
  return [key](const auto& blob) { return KeyIn(blob.get()) == key; };
}

std::pair<Record, HolderState> StateIn(const char* blob) {
  const auto flags = static_cast<unsigned char>(blob[sizeof(std::int64_t)]);
  return {static_cast<Record>((flags >> kRecordShift) & 3U),
          static_cast<HolderState>((flags >> kStateShift) & 3U)};
}

void Pack(const OwnerTexts& texts, std::string& out) {
  out.resize(sizeof(texts.since));
  std::memcpy(out.data(), &texts.since, sizeof(texts.since));
  const unsigned flags = (texts.real ? kRealBit : 0U) | (texts.contested ? kContestedBit : 0U) |
                         (texts.managed_once ? kManagedOnceBit : 0U) |
                         (static_cast<unsigned>(texts.record) << kRecordShift) |
                         (static_cast<unsigned>(texts.state) << kStateShift);
  out.push_back(static_cast<char>(flags));
  TextPacker packer(out);
  packer.Text(texts.key);
  packer.Text(texts.id);
  packer.Relative(texts.key, texts.root);
  packer.Relative(texts.root, texts.party);
  packer.Text(texts.service);
  packer.Text(texts.contact);
  packer.Relative(texts.key, texts.arn);
  packer.Relative(texts.key, texts.name);
  packer.Relative(texts.key, texts.identity);
  packer.Relative(texts.key, texts.shape);
  packer.Text(texts.record_reason);
  packer.Text(texts.successor);
  packer.Relative(texts.root, texts.leaf);
  packer.Text(texts.left);
}

Result<void> Unpack(const char* blob, Owner& owner) {
  // Texts of usual length need no memory of the heap.
  constexpr std::size_t kUsualBytes = 1024;
  std::array<std::byte, kUsualBytes> usual;
  std::pmr::monotonic_buffer_resource memory(usual.data(), usual.size());
  OwnerTexts texts;
  std::memcpy(&texts.since, blob, sizeof(texts.since));
  const auto flags = static_cast<unsigned char>(blob[sizeof(texts.since)]);
  texts.real = (flags & kRealBit) != 0U;
  texts.contested = (flags & kContestedBit) != 0U;
  texts.managed_once = (flags & kManagedOnceBit) != 0U;
  std::tie(texts.record, texts.state) = StateIn(blob);
  TextUnpacker unpacker(blob + kKeyOffset, memory);
  texts.key = unpacker.Text();
  texts.id = unpacker.Text();
  texts.root = unpacker.Relative(texts.key);
  texts.party = unpacker.Relative(texts.root);
  texts.service = unpacker.Text();
  texts.contact = unpacker.Text();
  texts.arn = unpacker.Relative(texts.key);
  texts.name = unpacker.Relative(texts.key);
  texts.identity = unpacker.Relative(texts.key);
  texts.shape = unpacker.Relative(texts.key);
  texts.record_reason = unpacker.Text();
  texts.successor = unpacker.Text();
  texts.leaf = unpacker.Relative(texts.root);
  texts.left = unpacker.Text();
  return FillOwner(texts, owner);
}

}  // namespace

const OwnerIndex::Blob* OwnerIndex::BlobOf(std::string_view key) const {
  return blobs_.Find(HashOf(key), IsOf(key));
}

Result<void> OwnerIndex::Find(std::string_view key, std::optional<Owner>& owner) const {
  const Blob* const blob = BlobOf(key);
  if (blob == nullptr) {
    owner.reset();
    return {};
  }
  Result<void> unpacked = Unpack(blob->get(), owner.emplace());
  if (!unpacked.ok()) owner.reset();
  return unpacked;
}

bool OwnerIndex::Contains(std::string_view key) const { return BlobOf(key) != nullptr; }

std::optional<std::pair<Record, HolderState>> OwnerIndex::StateOf(std::string_view key) const {
  const Blob* const blob = BlobOf(key);
  if (blob == nullptr) return std::nullopt;
  return StateIn(blob->get());
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

void OwnerIndex::Put(const OwnerTexts& texts) {
  std::string packed;
  packed.reserve(512);
  Pack(texts, packed);
  Blob blob(new char[packed.size()]);
  std::memcpy(blob.get(), packed.data(), packed.size());
  const TextHash hash = HashOf(texts.key);
  if (Blob* const found = blobs_.Find(hash, IsOf(texts.key))) {
    *found = std::move(blob);
  } else {
    blobs_.Insert(hash, std::move(blob));
  }
}

void OwnerIndex::Erase(std::string_view key) { blobs_.Erase(HashOf(key), IsOf(key)); }

}  // namespace truce
