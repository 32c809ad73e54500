#include "webhook/wire/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <utility>

namespace truce {

std::optional<std::string> DecodeBase64(std::string text) {
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  std::string decoded(text.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(decoded.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (length < 0) return std::nullopt;
  // EVP_DecodeBlock counts the padding as bytes.
  std::size_t padding = 0;
  if (text.ends_with("==")) {
    padding = 2;
  } else if (text.ends_with('=')) {
    padding = 1;
  }
  decoded.resize(static_cast<std::size_t>(length) - padding);
  return decoded;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string encoded((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  encoded.resize(static_cast<std::size_t>(length));
  return encoded;
}

std::optional<std::string> DecodeBase64Url(std::string text) {
  if (text.find_first_of("+/= \r\n") != std::string::npos) return std::nullopt;
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  if (text.ends_with("===")) return std::nullopt;  // one digit is no byte
  return DecodeBase64(std::move(text));
}

std::string EncodeBase64Url(std::string_view bytes) {
  std::string encoded = EncodeBase64(bytes);
  std::replace(encoded.begin(), encoded.end(), '+', '-');
  std::replace(encoded.begin(), encoded.end(), '/', '_');
  encoded.resize(std::min(encoded.find('='), encoded.size()));
  return encoded;
}

}  // namespace truce
