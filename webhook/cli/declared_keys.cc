#include "webhook/cli/declared_keys.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "webhook/check/manifest_reader.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kManifestsMax = 500;  // of one question to the server

Json ToJson(Value value) {
  switch (value.kind()) {
    case Document::Kind::kObject: {
      Json json = Json::object();
      for (Value v = value.first(); v.exists(); v = value.next(v)) {
        json[std::string(v.key())] = ToJson(v);
      }
      return json;
    }
    case Document::Kind::kArray: {
      Json json = Json::array();
      for (Value v = value.first(); v.exists(); v = value.next(v)) json.push_back(ToJson(v));
      return json;
    }
    case Document::Kind::kString: return std::string(value.text());
    case Document::Kind::kBool: return value.is_true();
    case Document::Kind::kNumber: {
      Json number = ParseJson(value.text());
      return number.is_number() ? number : Json(std::string(value.text()));
    }
    case Document::Kind::kNull:
    case Document::Kind::kMissing: break;
  }
  return nullptr;
}

Result<std::string> ReadManifestFile(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return Error{ErrorCode::kNotFound, path + ": the file cannot be read"};
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  std::string line;
  while (std::getline(in, line)) {
    text.append(line).append("\n");
    if (text.size() > kYamlBytesMax) {
      return Error{ErrorCode::kInvalidArgument, path + ": the file is larger than 4 MiB"};
    }
  }
  return text;
}

// The documents between lines "---".
std::vector<std::string> DocumentsOf(const std::string& text) {
  std::vector<std::string> documents(1);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin + 1);
    begin += line.size();
    if (line.starts_with("---") && line.find_first_not_of("- \t\r\n") == std::string::npos) {
      documents.emplace_back();
    } else {
      documents.back() += line;
    }
  }
  return documents;
}

Result<Json> ReadManifests(const std::string& file) {
  TRUCE_ASSIGN_OR_RETURN(const std::string text, ReadManifestFile(file));
  Json items = Json::array();
  for (const std::string& document : DocumentsOf(text)) {
    TRUCE_ASSIGN_OR_RETURN(const YamlNode node, ParseYaml(document, file));
    if (node.children.empty()) continue;
    const Document tree = ReadDocument(node);
    Json object = ToJson(tree.root());
    const bool is_list = object.is_object() && object.contains("items") &&
                         object["items"].is_array() && !object.contains("spec");
    if (is_list) {
      for (Json& each : object["items"]) items.push_back(std::move(each));
    } else {
      items.push_back(std::move(object));
    }
    if (items.size() > kManifestsMax) {
      return Error{ErrorCode::kInvalidArgument, file + ": more than 500 manifests"};
    }
  }
  return items;
}

void AddKey(const std::string& key, std::vector<std::string>& keys) {
  const bool is_new = std::find(keys.begin(), keys.end(), key) == keys.end();
  if (!key.empty() && is_new) keys.push_back(key);
}

}  // namespace

ExitCode KeysDeclaredIn(const ApiFlags& flags, const std::string& file, CommandIo& io,
                        std::vector<std::string>& keys) {
  const Result<Json> items = ReadManifests(file);
  if (!items.ok()) return Complain(io, items.error().message, ExitCode::kUsage);
  const Json body = {{"items", items.value()}};
  const ApiReply reply = AskApi(flags, {"/api/v1/checks", {}, Dump(body)}, io);
  if (reply.code != ExitCode::kOk) return reply.code;
  const Json answer = ParseJson(reply.answer);
  if (!answer.is_object() || !answer.contains("items") || !answer["items"].is_array()) {
    return Complain(io, "what answers is not a Truce server", ExitCode::kUnreachable);
  }
  for (const Json& item : answer["items"]) {
    if (!item.is_object() || !item.contains("declares")) continue;
    for (const Json& declared : item["declares"]) {
      AddKey(declared.value("key", std::string()), keys);
      if (!declared.contains("names") || !declared["names"].is_array()) continue;
      for (const Json& name : declared["names"]) {
        if (name.is_string()) AddKey(name, keys);
      }
    }
  }
  if (!keys.empty()) return ExitCode::kOk;
  return Complain(io, file + ": the manifests declare no resource whose name is known",
                  ExitCode::kUsage);
}

}  // namespace truce
