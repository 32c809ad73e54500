#include "webhook/publish/owned_secret.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "webhook/wire/base64.h"
#include "webhook/wire/endpoints.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

// The part of that name; empty, or an object without members, when there is none of that type.
Json ObjectOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : Json::object();
}

Json DataOf(const OwnedSecret& secret) {
  return {{"ca.crt", EncodeBase64(secret.certificates.authorities)},
          {"ca.key", EncodeBase64(secret.certificates.authority_key)},
          {"tls.crt", EncodeBase64(secret.certificates.certificate)},
          {"tls.key", EncodeBase64(secret.certificates.key)},
          {"admission.secret", EncodeBase64(secret.path_secret)}};
}

}  // namespace

Result<OwnedSecret> ReadOwnedSecret(std::string_view json) {
  const Json object = ParseJson(json);
  if (!object.is_object() || TextIn(object, "kind") != "Secret") {
    return Error{ErrorCode::kInvalidArgument, "the answer is not a Secret"};
  }
  const auto part = [data = ObjectOf(object, "data")](const char* key) {
    return DecodeBase64(TextIn(data, key)).value_or("");
  };
  OwnedSecret secret;
  secret.certificates = {part("ca.crt"), part("ca.key"), part("tls.crt"), part("tls.key")};
  secret.path_secret = part("admission.secret");
  // As if it were missing: this server's own takes its place.
  if (!IsPathSecret(secret.path_secret)) secret.path_secret.clear();
  secret.resource_version = TextIn(ObjectOf(object, "metadata"), "resourceVersion");
  return secret;
}

std::string PatchOfOwnedSecret(const OwnedSecret& wanted) {
  // With the version it is refused where somebody else wrote meanwhile, instead of overwriting
  // theirs.
  const Json patch = {{"metadata", {{"resourceVersion", wanted.resource_version}}},
                      {"data", DataOf(wanted)}};
  return patch.dump();
}

std::string NewOwnedSecret(const OwnedSecret& wanted, const std::string& name) {
  const Json object = {{"apiVersion", "v1"},
                       {"kind", "Secret"},
                       {"type", "Opaque"},
                       {"metadata", {{"name", name}}},
                       {"data", DataOf(wanted)}};
  return object.dump();
}

}  // namespace truce
