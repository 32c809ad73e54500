// Witnesses: whether the database still has the changes that it acknowledged.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_WITNESSES_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_WITNESSES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/store/postgres/connection.h"

namespace truce {

// A line of the audit log whose commit was acknowledged.
struct Witness {
  std::int64_t number = 0;
  Timestamp at{};
  std::string id;
};

// Remembers the last acknowledged lines, and asks for them wherever the server is another one, or
// started anew: a fail-over to a standby that was behind, or a restored copy, lacks some.
// Thread-safe.
class Witnesses final {
 public:
  static constexpr std::size_t kKept = 1'024;

  void Add(Witness witness);

  // To be called with each new connection, before it writes: begins another incarnation where that
  // is due. Errors: those of Ask.
  Result<void> Check(PgLink& link, Deadline deadline);

  // How many acknowledged lines were missing since the last call; 0: none.
  std::uint64_t TakeMissing();

 private:
  struct State {
    std::string place;  // truce.arrive
    std::deque<Witness> kept;
    std::uint64_t missing = 0;
  };
  Guarded<State> state_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_WITNESSES_H_
