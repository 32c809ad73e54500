#include "webhook/findings/configuration_event.h"

#include <nlohmann/json.hpp>

#include "webhook/wire/json_text.h"

namespace truce {

ObjectEvent ConfigurationRefusedEvent(const std::string& webhook, const std::string& problem,
                                      ClusterApi& api, Deadline deadline) {
  static const ServedKind kKind{"admissionregistration.k8s.io", "v1",
                                "ValidatingWebhookConfiguration", "validatingwebhookconfigurations",
                                false};
  ObjectEvent event;
  event.object = {"", kKind.group, kKind.kind, "", webhook};
  event.version = kKind.version;
  event.reason = "ConfigurationRefused";
  event.note = "A changed configuration was refused; the one before stays in force. " + problem;
  const auto found = api.Get(kKind, "", webhook, deadline);
  if (!found.ok()) return event;
  const nlohmann::json object = ParseJson(found.value());
  const nlohmann::json::json_pointer uid("/metadata/uid");
  if (object.is_object() && object.contains(uid) && object[uid].is_string()) {
    event.uid.text = object[uid].get<std::string>();
  }
  return event;
}

}  // namespace truce
