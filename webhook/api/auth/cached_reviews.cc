#include "webhook/api/auth/cached_reviews.h"

#include <arpa/inet.h>

#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "registry/base/threads.h"

namespace truce {
namespace {

// Texts one after another, each behind its length, so that no two lists give one text.
void Append(std::initializer_list<std::string_view> texts, std::string& out) {
  for (const std::string_view text : texts) {
    out.append(std::to_string(text.size())).append(":").append(text);
  }
}

Digest QuestionOf(const KubernetesUser& user, const Permission& permission) {
  std::string text;
  Append({user.name, user.uid}, text);
  for (const std::string& group : user.groups) Append({"g", group}, text);
  for (const auto& [key, values] : user.extra) {
    Append({"x", key}, text);
    for (const std::string& value : values) Append({"v", value}, text);
  }
  Append({"p", permission.resource, permission.sub_resource, permission.verb, permission.ns}, text);
  return Sha256(text);
}

Error TooMany() {
  return {ErrorCode::kResourceExhausted, "too many callers wait for the API server's word on them"};
}

// Whoever has one IPv6 address has its whole network of 64 bits.
std::string SourceOf(const std::string& address) {
  constexpr std::size_t kNetworkBytes = 8;
  std::array<char, sizeof(in6_addr)> bytes{};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
  return std::string(bytes.data(), kNetworkBytes);
}

}  // namespace

Result<std::optional<KubernetesUser>> CachedTokenReviewer::FindUser(const std::string& token,
                                                                    const std::string& source,
                                                                    Deadline deadline) {
  const Digest question = Sha256(token);
  const Deadline asked = now_();
  if (auto known = memory_.Find(question, asked)) return *known;
  const Turnstile::Turn turn(turnstile_, SourceOf(source));
  if (!turn.inside()) return TooMany();
  const BlockingRegion blocking;
  TRUCE_ASSIGN_OR_RETURN(std::optional<KubernetesUser> user,
                         source_.FindUser(token, source, deadline));
  // Counted from before the question: the answer was true at some moment since.
  const auto believed = user ? kYesIsBelieved : kNoIsBelieved;
  memory_.Keep(question, user, asked, asked + believed);
  return user;
}

Result<bool> CachedAccessReviewer::Allowed(const KubernetesUser& user, const Permission& permission,
                                           Deadline deadline) {
  const Digest question = QuestionOf(user, permission);
  const Deadline asked = now_();
  if (const auto known = memory_.Find(question, asked)) return *known;
  const Turnstile::Turn turn(turnstile_, user.name);
  if (!turn.inside()) return TooMany();
  const BlockingRegion blocking;
  TRUCE_ASSIGN_OR_RETURN(const bool allowed, source_.Allowed(user, permission, deadline));
  memory_.Keep(question, allowed, asked, asked + (allowed ? kYesIsBelieved : kNoIsBelieved));
  return allowed;
}

}  // namespace truce
