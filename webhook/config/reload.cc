#include "webhook/config/reload.h"

#include <utility>

#include "webhook/config/keys.h"

namespace truce {
namespace {

// Puts the keys that need a restart back to what is in force; returns the names of those that
// differ.
std::vector<std::string> KeepUntilRestart(const Config& in_force, Config& next) {
  std::vector<std::string> changed;
  for (const Key& key : Keys()) {
    if (key.reloads || key.IsStructured()) continue;
    std::visit(
        [&](auto field) {
          if (next.*field == in_force.*field) return;
          changed.emplace_back(key.name);
          next.*field = in_force.*field;
        },
        std::get<ScalarField>(key.field));
  }
  return changed;
}

}  // namespace

ConfigHolder::ConfigHolder(ConfigSources sources, LoadedConfig initial)
    : sources_(std::move(sources)),
      last_content_(std::move(initial.file_content)),
      current_(std::make_shared<const Config>(std::move(initial.config))) {}

ReloadOutcome ConfigHolder::Refuse(std::string content, std::string message) {
  // The same bad content is reported once, not at every look.
  if (content == last_content_) return {};
  last_content_ = std::move(content);
  return {ReloadOutcome::Kind::kRefused, std::move(message), {}};
}

ReloadOutcome ConfigHolder::Poll(const TakeOver& take_over) {
  if (sources_.file.empty()) return {};
  Result<std::string> content = ReadConfigFile(sources_.file);
  // No file can have this content: it holds a byte that YAML refuses.
  if (!content.ok()) return Refuse(std::string("\0unreadable", 11), content.error().message);
  if (content.value() == last_content_) return {};
  Result<LoadedConfig> loaded = LoadConfigFrom(sources_, content.value());
  if (!loaded.ok()) return Refuse(std::move(content).value(), loaded.error().message);

  Config next = std::move(loaded).value().config;
  ReloadOutcome outcome{ReloadOutcome::Kind::kReloaded, {}, KeepUntilRestart(*Current(), next)};
  auto snapshot = std::make_shared<const Config>(std::move(next));
  Result<void> taken = take_over(snapshot);
  if (!taken.ok()) {
    std::string message = std::move(taken).error().message;
    // An error at a line names the file already.
    if (!message.starts_with(sources_.file + ":")) message.insert(0, sources_.file + ": ");
    return Refuse(std::move(content).value(), std::move(message));
  }
  last_content_ = std::move(content).value();
  current_.Replace(std::move(snapshot));
  return outcome;
}

}  // namespace truce
