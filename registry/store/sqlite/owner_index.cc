#include "registry/store/sqlite/owner_index.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory_resource>
#include <span>
#include <string>

#include "registry/base/assert.h"

namespace truce {
namespace {

// Layout of a blob: since (8 bytes), flags (1), then texts. A text is a length and its bytes; a
// relative text is the lengths of the prefix and suffix it shares with its base, and the rest as a
// text. Lengths are LEB128. The key comes first, so that a lookup compares without unpacking.
constexpr std::size_t kKeyOffset = 9;
constexpr unsigned kRealBit = 1U;
constexpr unsigned kRecordShift = 1U;  // two bits
constexpr unsigned kStateShift = 3U;   // two bits
constexpr unsigned kContestedBit = 1U << 5U;

class Packer {
 public:
  explicit Packer(std::string& out) : out_(out) {}

  void Length(std::size_t length) {
    while (length >= 0x80U) {
      out_.push_back(static_cast<char>((length & 0x7FU) | 0x80U));
      length >>= 7U;
    }
    out_.push_back(static_cast<char>(length));
  }

  void Text(std::string_view text) {
    Length(text.size());
    out_.append(text);
  }

  void Relative(std::string_view base, std::string_view text) {
    const std::size_t bound = std::min(base.size(), text.size());
    std::size_t prefix = 0;
    while (prefix < bound && base[prefix] == text[prefix]) ++prefix;
    std::size_t suffix = 0;
    while (suffix < bound - prefix &&
           base[base.size() - 1 - suffix] == text[text.size() - 1 - suffix]) {
      ++suffix;
    }
    Length(prefix);
    Length(suffix);
    Text(text.substr(prefix, text.size() - prefix - suffix));
  }

 private:
  std::string& out_;
};

class Unpacker {
 public:
  // Relative texts are put together in `memory`.
  Unpacker(const char* at, std::pmr::memory_resource& memory) : at_(at), memory_(memory) {}

  std::size_t Length() {
    std::size_t length = 0;
    for (unsigned shift = 0;; shift += 7U) {
      const auto byte = static_cast<unsigned char>(*at_++);
      length |= static_cast<std::size_t>(byte & 0x7FU) << shift;
      if (byte < 0x80U) return length;
    }
  }

  std::string_view Text() {
    const std::size_t length = Length();
    const std::string_view text(at_, length);
    at_ += length;
    return text;
  }

  // Lives as long as the memory.
  std::string_view Relative(std::string_view base) {
    const std::size_t prefix = Length();
    const std::size_t suffix = Length();
    const std::string_view rest = Text();
    const std::size_t bytes = prefix + rest.size() + suffix;
    if (bytes == 0) return {};
    if (prefix == base.size() && rest.empty()) return base;
    const std::span<char> text(static_cast<char*>(memory_.allocate(bytes, 1)), bytes);
    base.copy(text.data(), prefix);
    rest.copy(text.data() + prefix, rest.size());
    base.copy(text.data() + prefix + rest.size(), suffix, base.size() - suffix);
    return {text.data(), bytes};
  }

 private:
  const char* at_;
  std::pmr::memory_resource& memory_;
};

std::string_view KeyIn(const char* blob) {
  return Unpacker(blob + kKeyOffset, *std::pmr::null_memory_resource()).Text();
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
                         (static_cast<unsigned>(texts.record) << kRecordShift) |
                         (static_cast<unsigned>(texts.state) << kStateShift);
  out.push_back(static_cast<char>(flags));
  Packer packer(out);
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
  std::tie(texts.record, texts.state) = StateIn(blob);
  Unpacker unpacker(blob + kKeyOffset, memory);
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
  texts.since = owner.since.time_since_epoch().count();
  texts.real = owner.real;
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
