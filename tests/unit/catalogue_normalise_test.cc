#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "registry/catalogue/normalise.h"

namespace truce {
namespace catalogue_normalise_test {

std::string Through(const std::vector<std::string>& steps, std::string_view value) {
  std::vector<Normaliser> normalisers;
  for (const std::string& step : steps) {
    const std::optional<Normaliser> parsed = ParseNormaliser(step);
    EXPECT_TRUE(parsed.has_value()) << step;
    if (parsed) normalisers.push_back(*parsed);
  }
  return Normalise(normalisers, value);
}

struct Case {
  std::vector<std::string> steps;
  std::string value;
  std::string expected;
};

TEST(Normalise, MakesSpellingsOfOneThingEqual) {
  const std::string function = "arn:aws:lambda:eu-west-1:123456789012:function:resize";
  const std::vector<std::string> function_name = {"arn-resource",
                                                  "strip-prefix:function:", "until::"};
  const std::vector<Case> cases = {
      {{}, "As-It-Is", "As-It-Is"},
      {{"lower"}, "Orders-DB", "orders-db"},
      {{"lower"}, "\xc3\x84Z", "\xc3\x84z"},
      {{"strip-prefix:alias/"}, "alias/app", "app"},
      {{"strip-prefix:alias/"}, "app", "app"},
      {{"strip-prefix:https://", "strip-suffix:/"}, "https://oidc.example/id/", "oidc.example/id"},
      {{"basename"}, "https://sqs.eu-west-1.amazonaws.com/123456789012/orders", "orders"},
      {{"basename"}, "arn:aws:sns:eu-west-1:123456789012:alerts", "alerts"},
      {{"basename"}, "orders", "orders"},
      {{"basename"}, "ends-in/", ""},
      {function_name, "resize", "resize"},
      {function_name, function, "resize"},
      {function_name, function + ":live", "resize"},
      {{"arn-resource"}, "arn:aws:sqs:eu-west-1", "arn:aws:sqs:eu-west-1"},
      {{"secret-name"}, "db/password", "db/password"},
      {{"secret-name"},
       "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db/pw-a1B2c3",
       "db/pw"},
      {{"secret-name"},
       "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db/password",
       "db/password"},
      {{"secret-name"}, "arn:aws:secretsmanager:eu-west-1:123456789012:secret:x", "x"},
      {{"dns"}, "WWW.Example.ORG.", "www.example.org"},
      {{"dns"}, "\\052.example.org", "*.example.org"},
      {{"add-prefix:serverlessrepo-"}, "app", "serverlessrepo-app"},
      {{"lower", "map:-1>all", "map:6>tcp"}, "-1", "all"},
      {{"lower", "map:-1>all", "map:6>tcp"}, "TCP", "tcp"},
      {{"map:-1>all", "map:6>tcp"}, "6", "tcp"},
      {{"map:6>tcp"}, "65", "65"},
      {{"until:/"}, "", ""},
      {{"cidr"}, "10.0.0.7/24", "10.0.0.0/24"},
      {{"cidr"}, "100.68.0.18/18", "100.68.0.0/18"},
      {{"cidr"}, "10.1.2.3/32", "10.1.2.3/32"},
      {{"cidr"}, "0.0.0.0/0", "0.0.0.0/0"},
      {{"cidr"}, "2001:0DB8:0:0::1/64", "2001:db8::/64"},
      {{"cidr"}, "0:0:0:0:0:0:0:0/0", "::/0"},
      {{"cidr"}, "::1/128", "::1/128"},
      {{"cidr"}, "10.0.0.7/33", "10.0.0.7/33"},
      {{"cidr"}, "10.0.0.7/", "10.0.0.7/"},
      {{"cidr"}, "10.0.0/8", "10.0.0/8"},
      {{"cidr"}, "10.0.0.7", "10.0.0.7"},
      {{"cidr"}, "pl-0a1b2c3d", "pl-0a1b2c3d"},
      {{"strip-account"}, "123456789012/sg-0a1b2c3d", "sg-0a1b2c3d"},
      {{"strip-account"}, "sg-0a1b2c3d", "sg-0a1b2c3d"},
      {{"object-key"}, "/a//b/c", "a/b/c"},
      {{"object-key"}, "./a/", "a/"},
      {{"object-key"}, "a/./b", "a/./b"},
      {{"object-key"}, "//", ""},
      {{"strip-account"}, "12345678901/sg-0a1b2c3d", "12345678901/sg-0a1b2c3d"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.value);
    EXPECT_EQ(Through(c.steps, c.value), c.expected);
  }
}

TEST(Normalise, WritesAndReadsItsOps) {
  for (const std::string_view text :
       {"lower", "strip-prefix:a:b", "strip-suffix:.", "basename", "until::", "arn-resource",
        "secret-name", "dns", "add-prefix:x", "cidr", "strip-account", "object-key", "map:-1>all",
        "map:x>"}) {
    const std::optional<Normaliser> parsed = ParseNormaliser(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_EQ(Text(*parsed), text);
  }
}

TEST(Normalise, RefusesWhatIsNoOp) {
  for (const std::string_view text : {"", "upper", "lower:x", "until", "until:", "strip-prefix:",
                                      "map:x", "map:>x", "dns ", "Lower"}) {
    EXPECT_FALSE(ParseNormaliser(text).has_value()) << text;
  }
}

}  // namespace catalogue_normalise_test
}  // namespace truce
