#include "webhook/kube/exec_plugin.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "webhook/kube/program.h"
#include "webhook/wire/base64.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

std::string ExecInfo(const ServerSettings& settings, std::string_view authority) {
  Json spec = {{"interactive", false}};
  if (settings.user.exec->provide_cluster_info) {
    const ServerAddress& address = settings.address;
    Json cluster = {
        {"server", (address.tls ? "https://" : "http://") + HostAndPort(address) + address.path}};
    if (!settings.tls_server_name.empty()) cluster["tls-server-name"] = settings.tls_server_name;
    if (!settings.verify) cluster["insecure-skip-tls-verify"] = true;
    if (!authority.empty()) cluster["certificate-authority-data"] = EncodeBase64(authority);
    spec["cluster"] = std::move(cluster);
  }
  const Json info = {{"kind", "ExecCredential"},
                     {"apiVersion", settings.user.exec->api_version},
                     {"spec", std::move(spec)}};
  return Dump(info);
}

// The text of `key`; empty when it is missing or no text.
std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

// Errors: the fault of the output, or of the credential.
Result<ExecCredential> ReadCredential(const std::string& output, const std::string& version) {
  const auto bad = [](std::string what) { return Error{ErrorCode::kUnavailable, std::move(what)}; };
  const Json parsed = ParseJson(output);
  if (parsed.is_discarded() || !parsed.is_object()) return bad("printed no JSON object");
  if (Text(parsed, "kind") != "ExecCredential") return bad("printed no ExecCredential");
  if (Text(parsed, "apiVersion") != version) {
    return bad("printed an ExecCredential of another version than '" + version + "'");
  }
  const auto status = parsed.find("status");
  if (status == parsed.end() || !status->is_object()) return bad("printed no status");
  ExecCredential credential;
  credential.token = Text(*status, "token");
  credential.certificate = Text(*status, "clientCertificateData");
  credential.key = Text(*status, "clientKeyData");
  if (credential.certificate.empty() != credential.key.empty()) {
    return bad("printed a certificate without key, or a key without certificate");
  }
  if (credential.token.empty() && credential.certificate.empty()) {
    return bad("printed neither token nor certificate");
  }
  const std::string expires = Text(*status, "expirationTimestamp");
  if (expires.empty()) return credential;
  credential.expires = ParseTimestamp(expires);
  if (!credential.expires) return bad("printed an expirationTimestamp that is not a time");
  return credential;
}

}  // namespace

Result<ExecCredential> RunExecPlugin(const ServerSettings& settings, std::string_view authority,
                                     Deadline deadline) {
  const ExecSettings& exec = *settings.user.exec;
  const std::string hint =
      exec.install_hint.empty() ? "" : " (" + FirstPrintedLine(exec.install_hint) + ")";
  const auto fail = [&](const std::string& what) {
    return Error{ErrorCode::kUnavailable,
                 "exec plugin '" + exec.command.string() + "' " + what + hint};
  };
  ProgramCall call{exec.command.string(), exec.arguments, exec.environment};
  call.environment.emplace_back("KUBERNETES_EXEC_INFO", ExecInfo(settings, authority));
  const Result<std::string> output = RunProgram(call, deadline);
  if (!output.ok()) return fail(output.error().message);
  Result<ExecCredential> credential = ReadCredential(output.value(), exec.api_version);
  if (!credential.ok()) return fail(credential.error().message);
  return credential;
}

}  // namespace truce
