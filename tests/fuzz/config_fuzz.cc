// Any bytes as a configuration file: one line of error, or a configuration that prints and reads
// back to itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "webhook/config/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  truce::ConfigSources sources;
  sources.file = "fuzz.yaml";
  const truce::Result<truce::LoadedConfig> first = truce::LoadConfigFrom(sources, text);
  if (!first.ok()) {
    const std::string& message = first.error().message;
    if (!message.starts_with("fuzz.yaml:") && !message.starts_with("default: ")) std::abort();
    if (message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const std::string printed = truce::PrintConfig(first.value());
  const truce::Result<truce::LoadedConfig> second = truce::LoadConfigFrom(sources, printed);
  if (!second.ok() || second.value().config != first.value().config) std::abort();
  return 0;
}
