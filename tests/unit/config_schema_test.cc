// schema/config.schema.json is what editors and reviewers read; the table of settings is what
// counts.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "webhook/config/keys.h"
#include "webhook/config/load.h"

namespace truce {
namespace config_schema_test {

nlohmann::json Schema() {
  std::ifstream file(std::string(TRUCE_SOURCE_DIR) + "/schema/config.schema.json");
  return nlohmann::json::parse(file, nullptr, false);
}

TEST(ConfigSchema, HasEverySettingAndNoOther) {
  const nlohmann::json schema = Schema();
  ASSERT_FALSE(schema.is_discarded());
  EXPECT_EQ(schema["properties"].size(), Keys().size());
  for (const Key& key : Keys()) {
    ASSERT_TRUE(schema["properties"].contains(key.name)) << key.name;
    EXPECT_EQ(schema["properties"][std::string(key.name)]["description"], key.help) << key.name;
  }
}

// The documented default, as it would be written on a command line.
std::string AsText(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& item : value)
    text.append(text.empty() ? "" : ",").append(item.get<std::string>());
  return text;
}

TEST(ConfigSchema, DefaultsAndChoicesAreThoseOfTheTable) {
  const nlohmann::json schema = Schema();
  for (const Key& key : Keys()) {
    const nlohmann::json& property = schema["properties"][std::string(key.name)];
    if (key.IsStructured()) {
      EXPECT_EQ(property["$ref"], "#/$defs/" + std::string(key.name));
      EXPECT_TRUE(schema["$defs"].contains(key.name)) << key.name;
      continue;
    }
    ASSERT_TRUE(property.contains("default")) << key.name;
    EXPECT_EQ(AsText(property["default"]), key.fallback) << key.name;
    if (property.contains("minimum")) {
      EXPECT_EQ(property["minimum"], key.minimum) << key.name;
      EXPECT_EQ(property["maximum"], key.maximum) << key.name;
    }
    if (!property.contains("enum")) continue;
    for (const auto& choice : property["enum"]) {
      Config config;
      EXPECT_TRUE(SetScalar(key, AsText(choice), config).ok()) << key.name << " " << choice;
    }
  }
}

}  // namespace config_schema_test
}  // namespace truce
