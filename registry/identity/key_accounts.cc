#include "registry/identity/key_accounts.h"

#include <cstddef>

#include "registry/base/text.h"
#include "registry/identity/draft.h"

namespace truce {

// A name is space|partition|account|region|…
std::string_view AccountFieldIn(const KeyText& name) {
  std::string_view rest = name.text;
  TakeUntil(rest, '|');
  TakeUntil(rest, '|');
  return rest.find('|') == std::string_view::npos ? std::string_view() : TakeUntil(rest, '|');
}

std::string AccountIn(const KeyText& name) {
  const std::string_view text = AccountFieldIn(name);
  if (!text.starts_with('?')) return std::string(text);
  const auto provisional_account = PercentDecode(text.substr(1));
  return provisional_account ? "?" + *provisional_account : std::string();
}

KeyText WithAccount(const KeyText& name, std::string_view account) {
  const std::string_view field = AccountFieldIn(name);
  if (field.data() == nullptr) return name;
  const std::string_view text = name.text;
  const auto begin = static_cast<std::size_t>(field.data() - text.data());
  KeyText out{std::string(text.substr(0, begin))};
  AppendAccount(out.text, account);
  out.text.append(text.substr(begin + field.size()));
  return out;
}

std::optional<KeyText> WithoutAccount(const KeyText& name) {
  if (AccountFieldIn(name).empty() || IsAssignedName(name)) return std::nullopt;
  return WithAccount(name, {});
}

}  // namespace truce
