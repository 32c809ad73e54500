// Kinds, objects and sessions for tests against a ScriptedApiServer.
#ifndef TRUCE_TESTS_SUPPORT_SCRIPTED_API_SESSION_H_
#define TRUCE_TESTS_SUPPORT_SCRIPTED_API_SESSION_H_

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "tests/support/scripted_api_server.h"
#include "webhook/kube/session.h"

namespace truce {

inline ServedKind BucketKind() {
  return {"s3.aws.upbound.io", "v1beta2", "Bucket", "buckets", false};
}

inline ServedKind ClaimKind() {
  return {"platform.example.org", "v1alpha1", "ObjectStorage", "objectstorages", true};
}

// {"metadata":{"name":…,"namespace":…},"spec":{}} and `more` members: `"reason":"X"`.
inline std::string ObjectJson(const std::string& name, const std::string& ns = {},
                              const std::string& more = {}) {
  std::string json = R"({"metadata":{"name":")" + name + "\"";
  if (!ns.empty()) json += R"(,"namespace":")" + ns + "\"";
  json += R"(},"spec":{})";
  if (!more.empty()) json += "," + more;
  return json + "}";
}

inline ServerSettings SettingsFor(const ScriptedApiServer& server) {
  ServerSettings settings;
  auto address = ParseServerAddress(server.url());
  EXPECT_TRUE(address.ok());
  if (address.ok()) settings.address = std::move(address).value();
  settings.origin = "test";
  return settings;
}

// Null, with a failure, when it cannot be opened.
inline std::shared_ptr<ServerSession> OpenSession(ServerSettings settings,
                                                  SessionOptions options = {}) {
  static const SystemClock kClock;
  auto session = ServerSession::Open(std::move(settings), kClock, options);
  if (!session.ok()) {
    ADD_FAILURE() << session.error().message;
    return nullptr;
  }
  return std::move(session).value();
}

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_SCRIPTED_API_SESSION_H_
