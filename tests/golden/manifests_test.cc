// The corpus of manifests, read by Truce and by kubectl (recorded in *.expected; the end-to-end
// test test_manifest_reading.py keeps the records true).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "webhook/check/manifest_reader.h"
#include "webhook/check/plain_scalar.h"

namespace truce {
namespace manifests_test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string Content(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

// Gives `text` out in pieces of `piece` bytes.
YamlSource Pieces(const std::string& text, std::size_t piece) {
  return [&text, piece, at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const std::size_t count = std::min({piece, size, text.size() - at});
    text.copy(buffer, count, at);
    at += count;
    return count;
  };
}

Result<std::vector<YamlNode>> Read(const std::string& text, std::size_t piece) {
  ManifestReader reader(Pieces(text, piece), "corpus");
  std::vector<YamlNode> out;
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(std::optional<Manifest> manifest, reader.Next());
    if (!manifest.has_value()) return out;
    out.push_back(std::move(manifest->root));
  }
}

// Where both readings differ, ours is the text as written, and the scalar says so; and only there.
void Compare(const YamlNode& ours, const Json& theirs, const std::string& path) {
  SCOPED_TRACE(path);
  switch (ours.kind) {
    case YamlNode::Kind::kMapping:
      ASSERT_TRUE(theirs.is_object());
      ASSERT_EQ(ours.keys.size(), theirs.size());
      for (std::size_t i = 0; i < ours.keys.size(); ++i) {
        ASSERT_TRUE(theirs.contains(ours.keys[i].text)) << ours.keys[i].text;
        Compare(ours.children[i], theirs[ours.keys[i].text], path + "." + ours.keys[i].text);
      }
      return;
    case YamlNode::Kind::kSequence:
      ASSERT_TRUE(theirs.is_array());
      ASSERT_EQ(ours.children.size(), theirs.size());
      for (std::size_t i = 0; i < ours.children.size(); ++i) {
        Compare(ours.children[i], theirs[i], path + "[" + std::to_string(i) + "]");
      }
      return;
    case YamlNode::Kind::kScalar: break;
  }
  const PlainReading reading = ReadPlain(ours.scalar);
  const bool differs = !ours.quoted && !reading.as_written;
  std::string json;
  AppendJson(ours, json);
  if (!differs) {
    EXPECT_EQ(Json::parse(json, nullptr, false), theirs) << ours.scalar;
    return;
  }
  EXPECT_EQ(Json::parse(json, nullptr, false), Json(ours.scalar));
  EXPECT_EQ(reading.kind == Document::Kind::kBool, theirs.is_boolean()) << ours.scalar;
  EXPECT_EQ(reading.kind == Document::Kind::kNumber, theirs.is_number()) << ours.scalar;
}

class Manifests : public testing::TestWithParam<fs::path> {};

TEST_P(Manifests, AreReadAsKubectlReadsThem) {
  const std::string name = GetParam().filename().string();
  const std::string text = Content(GetParam());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, text.size()}) {
    const Result<std::vector<YamlNode>> read = Read(text, piece);
    if (name.starts_with("refused-") || name.starts_with("stricter-")) {
      ASSERT_FALSE(read.ok());
      EXPECT_TRUE(read.error().message.starts_with("corpus:")) << read.error().message;
      continue;
    }
    ASSERT_TRUE(read.ok()) << read.error().message;
    const Json expected = Json::parse(Content(GetParam().string() + ".expected"));
    ASSERT_EQ(read.value().size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      Compare(read.value()[i], expected[i], name + "#" + std::to_string(i));
    }
  }
}

std::vector<fs::path> Corpus() {
  std::vector<fs::path> out;
  for (const auto& each : fs::directory_iterator(TRUCE_SOURCE_DIR "/tests/golden/manifests")) {
    if (each.path().extension() != ".expected") out.push_back(each.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

INSTANTIATE_TEST_SUITE_P(Corpus, Manifests, testing::ValuesIn(Corpus()), [](const auto& param) {
  std::string name = param.param.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace manifests_test
}  // namespace truce
