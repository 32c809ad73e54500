#include "webhook/metrics/health.h"

#include <algorithm>

namespace truce {

void Health::SetNotReady(std::string_view name, std::string_view reason) {
  reasons_.With([&](auto& reasons) {
    reasons[std::string(name)] = reason.empty() ? std::string("not ready") : std::string(reason);
  });
}

void Health::SetReady(std::string_view name) {
  reasons_.With([&](auto& reasons) { reasons[std::string(name)].clear(); });
}

bool Health::IsReady() const {
  return reasons_.With([](const auto& reasons) {
    return !reasons.empty() && std::all_of(reasons.begin(), reasons.end(),
                                           [](const auto& part) { return part.second.empty(); });
  });
}

std::string Health::Report() const {
  return reasons_.With([](const auto& reasons) {
    std::string out;
    for (const auto& [name, reason] : reasons) {
      out.append(reason.empty() ? "[+] " : "[-] ").append(name).append(": ");
      out.append(reason.empty() ? "ok" : reason).append("\n");
    }
    return out;
  });
}

}  // namespace truce
