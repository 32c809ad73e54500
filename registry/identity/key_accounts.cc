#include "registry/identity/key_accounts.h"

#include <cstddef>

#include "registry/identity/draft.h"

namespace truce {
namespace {

// Where the account stands in a name: space|partition|account|region|…
struct AccountField {
  std::size_t begin = std::string::npos;
  std::size_t end = std::string::npos;
};

AccountField FieldIn(const KeyText& name) {
  const std::size_t partition = name.text.find('|');
  if (partition == std::string::npos) return {};
  const std::size_t account = name.text.find('|', partition + 1);
  if (account == std::string::npos) return {};
  return {account + 1, name.text.find('|', account + 1)};
}

}  // namespace

std::string_view AccountFieldIn(const KeyText& name) {
  const AccountField field = FieldIn(name);
  if (field.end == std::string::npos) return {};
  return std::string_view(name.text).substr(field.begin, field.end - field.begin);
}

std::string AccountIn(const KeyText& name) {
  const std::string_view text = AccountFieldIn(name);
  if (!text.starts_with('?')) return std::string(text);
  const auto provisional_account = PercentDecode(text.substr(1));
  return provisional_account ? "?" + *provisional_account : std::string();
}

KeyText WithAccount(const KeyText& name, std::string_view account) {
  const AccountField field = FieldIn(name);
  if (field.end == std::string::npos) return name;
  KeyText out{name.text.substr(0, field.begin)};
  AppendAccount(out.text, account);
  out.text.append(name.text, field.end);
  return out;
}

std::optional<KeyText> WithoutAccount(const KeyText& name) {
  const AccountField field = FieldIn(name);
  if (field.end == std::string::npos || field.end == field.begin || IsAssignedName(name)) {
    return std::nullopt;
  }
  return KeyText{std::string(name.text).erase(field.begin, field.end - field.begin)};
}

}  // namespace truce
