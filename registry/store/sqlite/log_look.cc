#include "registry/store/sqlite/log_look.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <span>
#include <system_error>
#include <vector>

#include "registry/base/file.h"

namespace truce {
namespace {

// SQLite's formats: https://www.sqlite.org/fileformat2.html#walformat and
// https://www.sqlite.org/walformat.html#the_wal_index_file_format
constexpr std::size_t kHeaderBytes = 32;
constexpr std::size_t kSaltAt = 16;  // in the header
constexpr std::size_t kSaltBytes = 8;
constexpr std::size_t kFrameHeaderBytes = 24;
constexpr std::uint32_t kMagic = 0x377f0682;  // the lowest bit: checksums read big-endian words
constexpr std::uint32_t kPageBytesMin = 512;
constexpr std::uint32_t kPageBytesMax = 65536;
constexpr std::size_t kIndexBytes = 48;

using Bytes = std::span<const unsigned char>;
using Checksum = std::array<std::uint32_t, 2>;

constexpr bool kIsBigHere = std::endian::native == std::endian::big;

std::string LogIn(const std::string& data_dir) { return data_dir + "/truce.db-wal"; }
std::string MarkIn(const std::string& data_dir) { return data_dir + "/log.mark"; }

bool HasFrames(const std::string& log) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(log, problem);
  return !problem && size > kHeaderBytes;
}

bool Read(std::istream& file, std::span<unsigned char> to) {
  file.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
  return static_cast<std::size_t>(file.gcount()) == to.size();
}

std::uint32_t Word(Bytes bytes, std::size_t at, bool is_big = true) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return is_big == kIsBigHere ? word : __builtin_bswap32(word);
}

Checksum StoredIn(Bytes bytes, std::size_t at) { return {Word(bytes, at), Word(bytes, at + 4)}; }

Checksum SumOf(Bytes bytes, Checksum sum, bool is_big) {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    sum[0] += Word(bytes, at, is_big) + sum[1];
    sum[1] += Word(bytes, at + 4, is_big) + sum[0];
  }
  return sum;
}

// As SQLite's index counts them, after each commit's sync, of the log with that salt. After a power
// cut it may be older than the log.
std::uint32_t CommittedFrames(const std::string& data_dir, Bytes salt) {
  std::ifstream file(data_dir + "/truce.db-shm", std::ios::binary);
  std::array<unsigned char, kIndexBytes> index{};
  if (!Read(file, index)) return 0;
  const Checksum sum = SumOf(Bytes(index).first(40), {}, kIsBigHere);
  const Checksum stored = {Word(index, 40, kIsBigHere), Word(index, 44, kIsBigHere)};
  const bool is_of_log = std::ranges::equal(Bytes(index).subspan(32, kSaltBytes), salt);
  return sum == stored && is_of_log ? Word(index, 16, kIsBigHere) : 0;
}

// Of a log with frames: SQLite syncs its header before it writes them.
bool IsDamaged(const std::string& data_dir) {
  std::ifstream log(LogIn(data_dir), std::ios::binary);
  std::array<unsigned char, kHeaderBytes> header{};
  const bool is_read = Read(log, header);
  const std::uint32_t page_bytes = Word(header, 8);
  const bool is_big = (Word(header, 0) & 1U) != 0;
  const bool is_header = is_read && (Word(header, 0) & ~1U) == kMagic &&
                         std::has_single_bit(page_bytes) && page_bytes >= kPageBytesMin &&
                         page_bytes <= kPageBytesMax &&
                         SumOf(Bytes(header).first(24), {}, is_big) == StoredIn(header, 24);
  if (!is_header) return true;
  const Bytes salt = Bytes(header).subspan(kSaltAt, kSaltBytes);
  std::vector<unsigned char> frame(kFrameHeaderBytes + page_bytes);
  Checksum before = StoredIn(header, 24);  // as the frame before says itself
  std::uint32_t number = 0;
  std::uint32_t readable = 0;  // frames up to the last commit that SQLite will find
  bool is_broken = false;
  bool follows_commit = false;  // behind the break, each of its frames fitting the one before
  while (Read(log, frame)) {
    ++number;
    const Checksum stored = StoredIn(frame, 16);
    const bool is_good = std::ranges::equal(Bytes(frame).subspan(8, kSaltBytes), salt) &&
                         SumOf(Bytes(frame).subspan(kFrameHeaderBytes),
                               SumOf(Bytes(frame).first(8), before, is_big), is_big) == stored;
    const bool is_commit = is_good && Word(frame, 4) != 0;
    is_broken = is_broken || !is_good;
    if (is_commit && follows_commit) return true;
    follows_commit = is_broken && is_good && (is_commit || follows_commit);
    if (is_commit && !is_broken) readable = number;
    before = stored;
  }
  return readable < CommittedFrames(data_dir, salt);
}

}  // namespace

std::string LossInLog(const std::string& data_dir) {
  const Result<std::string> mark = ReadSmallFile(MarkIn(data_dir));
  if (mark.ok() && !mark.value().empty()) return mark.value();
  const std::string log = LogIn(data_dir);
  if (HasFrames(log)) {
    if (!IsDamaged(data_dir)) return {};
    return "the registry's write-ahead log " + log +
           " is damaged: changes that were acknowledged cannot be read from it";
  }
  if (!Exists(MarkIn(data_dir))) return {};
  return "the registry's write-ahead log " + log +
         " is gone or empty, though the last server did not end cleanly: the last changes that it "
         "acknowledged may be gone";
}

Result<std::string> TakeUpLog(const std::string& data_dir, Files& files) {
  std::string loss = LossInLog(data_dir);
  if (loss.empty()) {
    TRUCE_RETURN_IF_ERROR(TakeLogMarkOff(data_dir, files));
  } else {
    TRUCE_RETURN_IF_ERROR(ReplaceFile(MarkIn(data_dir), loss, S_IRUSR | S_IWUSR));
  }
  return loss;
}

Result<void> MarkLog(const std::string& data_dir, Files& files) {
  TRUCE_RETURN_IF_ERROR(files.Remove(MarkIn(data_dir)));
  TRUCE_RETURN_IF_ERROR(files.Make(MarkIn(data_dir)));
  return files.Sync(data_dir);
}

Result<void> TakeLogMarkOff(const std::string& data_dir, Files& files) {
  if (!Exists(MarkIn(data_dir))) return {};
  TRUCE_RETURN_IF_ERROR(files.Remove(MarkIn(data_dir)));
  return files.Sync(data_dir);
}

}  // namespace truce
