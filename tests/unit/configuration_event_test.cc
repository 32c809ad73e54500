// The Event about a changed configuration that was refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <string>

#include "tests/support/memory_cluster_api.h"
#include "webhook/findings/event_writer.h"
#include "webhook/findings/object_events.h"

namespace truce {
namespace configuration_event_test {

TEST(ConfigurationEventTest, StandsOnTheWebhookConfiguration) {
  const ServedKind kind{"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
                        "validatingwebhookconfigurations", false};
  MemoryClusterApi api;
  const auto event = [&] {
    return ConfigurationRefusedEvent("truce", "truce.yaml:3: mode: 'strict'", api, Deadline::max());
  };
  EXPECT_EQ(event().uid.text, "") << "it goes without";
  api.Put(kind, "", R"({"metadata":{"name":"truce","uid":"u-1"}})");
  const ObjectEvent told = event();
  EXPECT_EQ(told.uid.text, "u-1");
  EXPECT_EQ(told.object.name, "truce");
  EXPECT_EQ(told.object.kind, kind.kind);
  EXPECT_EQ(told.reason, "ConfigurationRefused");
  EXPECT_TRUE(told.warning);
  EXPECT_EQ(told.note,
            "A changed configuration was refused; the one before stays in force. truce.yaml:3: "
            "mode: 'strict'");
  const auto written = nlohmann::json::parse(EventJson(told, Timestamp{}, "truce"));
  EXPECT_EQ(written.at("metadata").at("namespace"), "default")
      << "Events of what has no namespace stand in default";
}

}  // namespace configuration_event_test
}  // namespace truce
