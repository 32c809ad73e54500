#include "registry/store/sqlite/name_index.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <string>
#include <utility>

#include "registry/store/sqlite/packed_text.h"

namespace truce {
namespace {

// Layout of a blob: at (8 bytes), flags (1), the name, and relative to it the key. The name comes
// first, so that a lookup compares without unpacking.
constexpr std::size_t kNameOffset = 9;
constexpr unsigned kObservedBit = 1U;
constexpr unsigned kSortShift = 1U;  // two bits

std::string Pack(const ResourceName& name) {
  const std::int64_t at = name.at.time_since_epoch().count();
  std::string packed(sizeof(at), '\0');
  std::memcpy(packed.data(), &at, sizeof(at));
  const unsigned flags =
      (name.observed ? kObservedBit : 0U) | (static_cast<unsigned>(name.sort) << kSortShift);
  packed.push_back(static_cast<char>(flags));
  TextPacker packer(packed);
  packer.Text(name.name.text);
  packer.Relative(name.name.text, name.key.text);
  return packed;
}

// The texts of a blob; they live as long as it and this.
class Texts {
 public:
  explicit Texts(const char* blob) : unpacker_(blob + kNameOffset, memory_) {}

  std::string_view Name() { return unpacker_.Text(); }
  std::string_view KeyBeside(std::string_view name) { return unpacker_.Relative(name); }

 private:
  // Texts of usual length need no memory of the heap.
  std::array<std::byte, 512> usual_;
  std::pmr::monotonic_buffer_resource memory_{usual_.data(), usual_.size()};
  TextUnpacker unpacker_;
};

ResourceName Unpack(const char* blob) {
  std::int64_t at = 0;
  std::memcpy(&at, blob, sizeof(at));
  const auto flags = static_cast<unsigned char>(blob[sizeof(at)]);
  Texts texts(blob);
  const std::string_view name = texts.Name();
  ResourceName unpacked;
  unpacked.name.text = name;
  unpacked.key.text = texts.KeyBeside(name);
  unpacked.sort = static_cast<NameSort>(flags >> kSortShift);
  unpacked.observed = (flags & kObservedBit) != 0U;
  unpacked.at = Timestamp(std::chrono::milliseconds(at));
  return unpacked;
}

// Whether a blob is that of the name.
auto IsNamed(std::string_view name) {
  return [name](const auto& blob) { return Texts(blob.get()).Name() == name; };
}

TextHash HashOfKeyIn(const char* blob) {
  Texts texts(blob);
  const std::string_view name = texts.Name();
  return HashOf(texts.KeyBeside(name));
}

}  // namespace

std::optional<ResourceName> NameIndex::Find(std::string_view name) const {
  const Blob* const blob = blobs_.Find(HashOf(name), IsNamed(name));
  if (blob == nullptr) return std::nullopt;
  return Unpack(blob->get());
}

std::vector<ResourceName> NameIndex::OfKey(std::string_view key) const {
  std::vector<ResourceName> found;
  by_key_.Find(HashOf(key), [&](const char* blob) {
    ResourceName name = Unpack(blob);
    if (name.key.text == key) found.push_back(std::move(name));
    return false;
  });
  std::sort(found.begin(), found.end(),
            [](const ResourceName& a, const ResourceName& b) { return a.name < b.name; });
  return found;
}

void NameIndex::Put(const ResourceName& name) {
  Erase(name.name.text);
  const std::string packed = Pack(name);
  Blob blob(new char[packed.size()]);
  std::memcpy(blob.get(), packed.data(), packed.size());
  by_key_.Insert(HashOf(name.key.text), blob.get());
  blobs_.Insert(HashOf(name.name.text), std::move(blob));
}

void NameIndex::Erase(std::string_view name) {
  const TextHash hash = HashOf(name);
  const Blob* const found = blobs_.Find(hash, IsNamed(name));
  if (found == nullptr) return;
  const char* const blob = found->get();
  by_key_.Erase(HashOfKeyIn(blob), [blob](const char* each) { return each == blob; });
  blobs_.Erase(hash, IsNamed(name));
}

}  // namespace truce
