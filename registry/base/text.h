// Characters of ASCII, whatever the locale.
#ifndef TRUCE_REGISTRY_BASE_TEXT_H_
#define TRUCE_REGISTRY_BASE_TEXT_H_

namespace truce {

constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsAlnum(char c) { return IsLower(c) || IsUpper(c) || IsDigit(c); }
constexpr char Upper(char c) { return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }
constexpr char Lower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_TEXT_H_
