// Turnstile: bounds what is on its way at once, in all and of each asker.
#ifndef TRUCE_REGISTRY_BASE_TURNSTILE_H_
#define TRUCE_REGISTRY_BASE_TURNSTILE_H_

#include <map>
#include <string>
#include <utility>

#include "registry/base/guarded.h"

namespace truce {

// Thread-safe. Nobody waits: a caller who finds no place goes without.
class Turnstile final {
 public:
  // `of_one`: as many have a place of one asker, so that one who asks without end leaves places to
  // everybody else.
  Turnstile(int all, int of_one) : all_(all), of_one_(of_one) {}

  // Has a place while it lives, if there was one.
  class Turn final {
   public:
    Turn(Turnstile& turnstile, std::string asker)
        : turnstile_(turnstile), asker_(std::move(asker)), inside_(turnstile.Enter(asker_)) {}
    ~Turn() {
      if (inside_) turnstile_.Leave(asker_);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    bool inside() const { return inside_; }

   private:
    Turnstile& turnstile_;
    const std::string asker_;
    const bool inside_;
  };

 private:
  struct Inside {
    int all = 0;
    std::map<std::string, int> by_asker;  // at most all_
  };

  bool Enter(const std::string& asker) {
    return inside_.With([&](Inside& inside) {
      const auto own = inside.by_asker.find(asker);
      const bool has_share = own != inside.by_asker.end() && own->second == of_one_;
      if (inside.all == all_ || has_share) return false;
      ++inside.all;
      ++inside.by_asker[asker];
      return true;
    });
  }
  void Leave(const std::string& asker) {
    inside_.With([&](Inside& inside) {
      --inside.all;
      if (--inside.by_asker[asker] == 0) inside.by_asker.erase(asker);
    });
  }

  const int all_;
  const int of_one_;
  Guarded<Inside> inside_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_TURNSTILE_H_
