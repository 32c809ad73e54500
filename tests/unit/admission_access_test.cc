// Who may send reviews: path secret, bearer token, client certificate, loopback; and the secret's
// file.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/admission_fixture.h"
#include "tests/support/validate_now.h"
#include "webhook/admission/routes.h"

namespace truce {
namespace admission_access_test {

constexpr char kSecret[] = "0123456789abcdef0123456789abcdef";
constexpr char kToken[] = "a-token-of-some-length";

struct Row {
  const char* reason;
  AdmissionAccess access;
  std::string path_secret;
  std::string authorization;
  bool client;
  AccessVerdict verdict;
};

TEST(AccessTest, EachCallerGetsItsAnswer) {
  const auto granted = AccessVerdict::kGranted;
  const auto forbidden = AccessVerdict::kForbidden;
  const auto unauthorized = AccessVerdict::kUnauthorized;
  const std::string bearer = std::string("Bearer ") + kToken;
  const AdmissionAccess loopback{.loopback = true};
  const AdmissionAccess secret{.secrets = SecretsOf(kSecret)};
  const AdmissionAccess with_bearer{.bearer = kToken, .secrets = SecretsOf(kSecret)};
  const std::string right = Of(SecretsOf(kSecret), Endpoint::kDeclarations);
  const AdmissionAccess with_client{.client_certificate = true};
  const AdmissionAccess with_both{.client_certificate = true, .bearer = kToken};
  const std::vector<Row> rows = {
      {"loopback, plain", loopback, "", "", false, granted},
      {"loopback, a secret that is none", loopback, "x", "", false, forbidden},
      {"secret, plain", secret, "", "", false, forbidden},
      {"secret, right", secret, right, "", false, granted},
      {"secret, of checks", secret, Of(SecretsOf(kSecret), Endpoint::kChecks), "", false,
       forbidden},
      {"secret, what they follow from", secret, kSecret, "", false, forbidden},
      {"secret, wrong", secret, "1123456789abcdef0123456789abcdef", "", false, forbidden},
      {"secret, begin of it", secret, right.substr(0, 4), "", false, forbidden},
      {"secret, and more", secret, right + "0", "", false, forbidden},
      {"secret, twice", secret, right + right, "", false, forbidden},
      {"nothing is configured", {}, "", "", false, forbidden},
      {"nothing is configured, some secret", {}, kSecret, "", false, forbidden},
      {"bearer, right", with_bearer, "", bearer, false, granted},
      {"bearer, other case of the scheme", with_bearer, "", std::string("bEARER ") + kToken, false,
       granted},
      {"bearer, none", with_bearer, "", "", false, unauthorized},
      {"bearer, wrong", with_bearer, "", bearer + "x", false, unauthorized},
      {"bearer, empty", with_bearer, "", "Bearer ", false, unauthorized},
      {"bearer, basic", with_bearer, "", std::string("Basic ") + kToken, false, unauthorized},
      {"bearer and secret in the path", with_bearer, right, bearer, false, granted},
      {"the path's secret does not replace the bearer", with_bearer, right, "", false,
       unauthorized},
      {"client certificate", with_client, "", "", true, granted},
      {"client certificate missing", with_client, "", "", false, forbidden},
      {"both", with_both, "", bearer, true, granted},
      {"both, no certificate", with_both, "", bearer, false, forbidden},
      {"both, no bearer", with_both, "", "", true, unauthorized},
  };
  for (const Row& row : rows) {
    HttpRequest request;
    if (!row.authorization.empty()) request.headers = {{"authorization", row.authorization}};
    if (row.client) request.client_name = "kube-apiserver";
    EXPECT_EQ(CheckAccess(row.access, request, Endpoint::kDeclarations, row.path_secret),
              row.verdict)
        << row.reason;
  }
}

TEST(AccessTest, EachEndpointHasItsSecret) {
  const AdmissionAccess access{.secrets = SecretsOf(kSecret)};
  for (const Endpoint endpoint : kEndpoints) {
    for (const Endpoint other : kEndpoints) {
      const AccessVerdict verdict = CheckAccess(access, {}, endpoint, Of(*access.secrets, other));
      EXPECT_EQ(verdict == AccessVerdict::kGranted, endpoint == other)
          << Name(endpoint) << " " << Name(other);
    }
  }
  // The chart computes the same.
  EXPECT_EQ(Of(PathsOf(kSecret), Endpoint::kDeletions),
            "/validate-deletion/afcedf0ace4aaad6956d0d7e4b013c5f");
  EXPECT_EQ(Of(PathsOf(""), Endpoint::kPolicies), "/validate-policy");
  EXPECT_EQ(Of(PathsOf(""), Endpoint::kCompositions), "/validate-composition");
}

TEST(AccessTest, TheSecretBeforeIsGoodUntilTheNewOneIsSeen) {
  const EndpointTexts old = SecretsOf("ffffffffffffffffffffffffffffffff");
  const AdmissionAccess access{.secrets = SecretsOf(kSecret),
                               .former = std::make_shared<FormerSecrets>(old)};
  const auto check = [&](const EndpointTexts& secrets, Endpoint endpoint) {
    return CheckAccess(access, {}, endpoint, Of(secrets, endpoint));
  };
  EXPECT_EQ(check(old, Endpoint::kDeclarations), AccessVerdict::kGranted);
  EXPECT_EQ(check(old, Endpoint::kChecks), AccessVerdict::kGranted);
  EXPECT_EQ(check(*access.secrets, Endpoint::kChecks), AccessVerdict::kGranted);
  EXPECT_EQ(check(old, Endpoint::kDeclarations), AccessVerdict::kForbidden);
}

TEST(AccessTest, TheSecretBeforeEndsAMinuteAfterTheNewOneIsRegistered) {
  FormerSecrets former(SecretsOf(kSecret));
  const Deadline now = std::chrono::steady_clock::now();
  EXPECT_TRUE(former.AreGood(now + std::chrono::hours(100)));
  former.EndSoon(now);
  EXPECT_TRUE(former.AreGood(now + std::chrono::seconds(59)));
  EXPECT_FALSE(former.AreGood(now + std::chrono::seconds(60)));
  former.EndSoon(now + std::chrono::hours(1));
  EXPECT_FALSE(former.AreGood(now + std::chrono::seconds(60))) << "the first word counts";
}

class AccessFiles : public ::testing::Test {
 protected:
  AccessFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "truce-access-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~AccessFiles() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& content) const {
    std::string path = folder_ + "/file";
    std::ofstream(path) << content;
    return path;
  }

  std::string folder_;
};

TEST_F(AccessFiles, TheSecretIsMadeOnceAndForItsOwnerOnly) {
  const std::string file = folder_ + "/admission.secret";
  const auto made = ReadOrMakeSecret(file);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made.value().size(), 32U);
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(ReadOrMakeSecret(file).value(), made.value());
  EXPECT_NE(ReadOrMakeSecret(folder_ + "/another").value(), made.value());
}

TEST_F(AccessFiles, ABadSecretFileIsAnError) {
  for (const char* content : {"", "short", "0123456789ABCDEF0123456789ABCDEF"}) {
    const auto read = ReadOrMakeSecret(File(content));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(ReadOrMakeSecret(folder_ + "/no/such/folder").ok());
}

TEST_F(AccessFiles, ASecretThatIsNamedIsNeverMade) {
  const std::string file = folder_ + "/named";
  EXPECT_EQ(ReadSecret(file).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ReadSecret(file).error().code, ErrorCode::kNotFound);
  const auto made = ReadOrMakeSecret(file);
  EXPECT_EQ(ReadSecret(file).value(), made.value());
  EXPECT_EQ(ReadSecret(File("short")).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(AccessFiles, TokensAreOneWord) {
  EXPECT_EQ(ReadToken(File(std::string(" ") + kToken + "\n")).value(), kToken);
  for (const std::string& content :
       {std::string(), std::string("short"), std::string("two words of sixteen bytes"),
        std::string(4097, 'a'), std::string("control\x01character-in-it")}) {
    EXPECT_EQ(ReadToken(File(content)).error().code, ErrorCode::kInvalidArgument) << content;
  }
  EXPECT_EQ(ReadToken(folder_ + "/missing").error().code, ErrorCode::kNotFound);
}

class AccessRoutes : public AdmissionFixture {
 protected:
  HttpResponse Call(const AdmissionAccess& access, const std::string& path) {
    const InForce<AdmissionAccess> in_force(std::make_shared<const AdmissionAccess>(access));
    const auto routes = AdmissionRoutes(service_, in_force, &refused_);
    for (const HttpRoute& route : routes) {
      const bool fits =
          route.match == RouteMatch::kExact ? path == route.path : path.starts_with(route.path);
      if (!fits) continue;
      EXPECT_EQ(route.media_type, "application/json");
      HttpRequest request;
      request.path = path;
      request.body = BodyOf(Bucket("one", "prod-artifacts"));
      TestDeferral deferral;
      request.defer = deferral;
      auto response = route.handler(request);
      return response ? *std::move(response) : deferral.Wait();
    }
    return PlainText(404, "no route");
  }

  RefusedCallers refused_;
};

TEST_F(AccessRoutes, CountWhomTheyRefuseByWhatWasWrong) {
  Call({.secrets = SecretsOf(kSecret)}, "/validate/wrong");
  Call({.bearer = kToken}, "/validate");
  Call({.bearer = kToken}, "/validate");
  Call({.client_certificate = true}, "/validate");
  Call({.loopback = true}, "/validate");
  EXPECT_EQ(refused_.counts[RefusedCallers::kPath].load(), 1U);
  EXPECT_EQ(refused_.counts[RefusedCallers::kBearer].load(), 2U);
  EXPECT_EQ(refused_.counts[RefusedCallers::kCertificate].load(), 1U);
}

TEST_F(AccessRoutes, ServeThePathsOfTheDesign) {
  const AdmissionAccess secret{.secrets = SecretsOf(kSecret)};
  EXPECT_EQ(Call(secret, Of(PathsOf(kSecret), Endpoint::kDeclarations)).status, 200);
  const HttpResponse plain = Call(secret, "/validate");
  EXPECT_EQ(plain.status, 403);
  EXPECT_EQ(Call(secret, "/validate/wrong"), plain);
  EXPECT_EQ(Call(secret, "/validate/"), plain);
  EXPECT_EQ(Call({.loopback = true}, "/validate").status, 200);
  const HttpResponse unauthorized = Call({.bearer = kToken}, "/validate");
  EXPECT_EQ(unauthorized.status, 401);
  EXPECT_EQ(unauthorized.headers.size(), 1U);
}

// A creation sent to them is allowed, whatever it declares, and nothing is kept of it.
TEST_F(AccessRoutes, OnlyTheSecretOfDeclarationsWrites) {
  const AdmissionAccess access{.secrets = SecretsOf(kSecret)};
  const EndpointTexts paths = PathsOf(kSecret);
  for (const Endpoint endpoint : kEndpoints) {
    if (endpoint == Endpoint::kDeclarations) continue;
    EXPECT_EQ(Call(access, Of(paths, endpoint)).status, 200) << Name(endpoint);
    EXPECT_TRUE(Contents().owners.empty()) << Name(endpoint);
    const std::string of_declarations = "/validate/" + Of(SecretsOf(kSecret), endpoint);
    EXPECT_EQ(Call(access, of_declarations).status, 403) << Name(endpoint);
    EXPECT_TRUE(Contents().owners.empty()) << Name(endpoint);
  }
  EXPECT_EQ(Call(access, Of(paths, Endpoint::kDeclarations)).status, 200);
  EXPECT_EQ(Contents().owners.size(), 1U);
}

}  // namespace admission_access_test
}  // namespace truce
