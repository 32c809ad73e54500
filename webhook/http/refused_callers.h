// RefusedCallers: the number of requests without a valid proof of their sender, by the missing
// proof.
#ifndef TRUCE_WEBHOOK_HTTP_REFUSED_CALLERS_H_
#define TRUCE_WEBHOOK_HTTP_REFUSED_CALLERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace truce {

// Thread-safe.
struct RefusedCallers {
  enum Cause : std::size_t {
    kPath,         // of the admission listener: the path's secret
    kCertificate,  // the client certificate
    kBearer,       // the admission listener's bearer token
    kToken,  // of the API: a token or certificate that is no good; a missing one is no attempt
    kCauses
  };
  static constexpr std::array<std::string_view, kCauses> kNames = {"path", "certificate", "bearer",
                                                                   "token"};

  std::array<std::atomic<std::uint64_t>, kCauses> counts{};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_REFUSED_CALLERS_H_
