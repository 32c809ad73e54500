#include "webhook/wire/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <charconv>

#include "registry/base/assert.h"
#include "registry/base/text.h"

namespace truce {
namespace {

const unsigned char* BytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

Digest Sha256(std::string_view text) {
  Digest digest{};
  unsigned int size = 0;
  const int done =
      EVP_Digest(BytesOf(text), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  TRUCE_ASSERT(done == 1 && size == digest.size());
  return digest;
}

Digest HmacSha256(std::string_view key, std::string_view text) {
  Digest digest{};
  unsigned int size = 0;
  const unsigned char* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                   BytesOf(text), text.size(), digest.data(), &size);
  TRUCE_ASSERT(done != nullptr && size == digest.size());
  return digest;
}

bool SameDigest(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string EntityTagOf(std::string_view text) {
  constexpr std::size_t kDigits = 32;
  return InQuotes(HexOf(Sha256(text)).substr(0, kDigits));
}

std::optional<Digest> DigestFromHex(std::string_view hex) {
  Digest digest{};
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* begin = hex.data() + 2 * i;
    const auto [end, error] = std::from_chars(begin, begin + 2, digest[i], 16);
    if (error != std::errc() || end != begin + 2) return std::nullopt;
  }
  return digest;
}

std::string RandomBytes(std::size_t count) {
  std::string bytes(count, '\0');
  const int done =
      RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count));
  TRUCE_ASSERT(done == 1);
  return bytes;
}

}  // namespace truce
