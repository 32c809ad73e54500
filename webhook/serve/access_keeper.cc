#include "webhook/serve/access_keeper.h"

#include <chrono>
#include <utility>

#include "webhook/serve/server_parts.h"

namespace truce {

Result<void> AccessKeeper::Read(const Config& config, bool others_write) {
  const std::lock_guard<std::mutex> reading(reading_);
  TRUCE_ASSIGN_OR_RETURN(const std::shared_ptr<const AdmissionAccess> access, AccessOf(config));
  auto next = std::make_shared<AdmissionAccess>(*access);
  current_.With([&](auto& current) {
    if (current != nullptr) {
      next->former = current->former;
      if (current->secrets && next->secrets != current->secrets) {
        next->former = std::make_shared<FormerSecrets>(*current->secrets);
        if (others_write) next->former->EndSoon(std::chrono::steady_clock::now());
      }
    }
    current = std::move(next);
  });
  return {};
}

void AccessKeeper::EndFormer() {
  const auto access = Current();
  if (access->former != nullptr) access->former->EndSoon(std::chrono::steady_clock::now());
}

std::shared_ptr<const AdmissionAccess> AccessKeeper::Current() const {
  return current_.With([](const auto& current) { return current; });
}

}  // namespace truce
