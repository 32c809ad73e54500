// The manifests that POST /checks is asked about.
#ifndef TRUCE_WEBHOOK_API_REST_CHECK_ITEMS_H_
#define TRUCE_WEBHOOK_API_REST_CHECK_ITEMS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "policies/ownership_check.h"
#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/values.h"

namespace truce {

// One manifest, and what it is reviewed as.
struct CheckItem {
  GroupKind kind;
  std::string ns;
  std::string name;
};

// Reads a body once; each item becomes a question when it is asked for. External synchronization.
class CheckItems final {
 public:
  // {"items": […], "namespace": "…"}: "namespace" is that of objects that name none; kinds that
  // `catalogue` knows to have none are left alone. `body` needs the capacity that HttpRequest::body
  // has (else it is made), and stays as it is while this lives. Errors: kInvalidArgument, one line
  // that says what is wrong and with which item; also a key twice in one object.
  static Result<CheckItems> Read(std::string& body, const Catalogue& catalogue);

  ~CheckItems();
  CheckItems(CheckItems&&) noexcept;
  CheckItems& operator=(CheckItems&&) noexcept;

  std::size_t size() const;
  const CheckItem& operator[](std::size_t index) const;

  // The question of `user`, who is to create item `index`, without fields that only the API server
  // writes (owner references, managed fields). Its views live until the next call.
  AskedObject Asked(std::size_t index, std::string_view user);

 private:
  struct Impl;
  explicit CheckItems(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_CHECK_ITEMS_H_
