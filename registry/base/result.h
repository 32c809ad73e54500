// Errors and results: how every fallible function of Truce reports.
//
// A code tells the caller what to do next, not what broke. Messages are lower-case, without
// trailing stop, with quoted values and without secrets. Thread-safety: values, as `int`.
#ifndef TRUCE_REGISTRY_BASE_RESULT_H_
#define TRUCE_REGISTRY_BASE_RESULT_H_

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "registry/base/assert.h"

namespace truce {

enum class ErrorCode {
  kInvalidArgument,    // fix the request
  kNotFound,           // the thing named does not exist
  kConflict,           // someone else holds it, or a version moved: read again, then decide
  kResourceExhausted,  // shed: retry later
  kUnavailable,        // retry the call; nothing was written
  kDeadlineExceeded,   // outcome may be unknown: read before retrying
  kDataLoss,           // stop, call a human
  kInternal,           // a bug of ours
};

// The code's stable name ("invalid_argument"), as used in logs, JSON and metric labels.
std::string_view Name(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code;
  std::string message;

  // The same error, prefixed by what was being done: "open registry: disk full".
  Error Within(std::string_view context) &&;

  bool operator==(const Error&) const = default;
};

// The request is at fault; `message` says how.
inline Error InvalidArgument(std::string_view message) {
  return Error{ErrorCode::kInvalidArgument, std::string(message)};
}

// A value or an error. `value()` of an error and `error()` of a value are programmer errors
// (abort).
template <typename T, typename E = Error>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): `return value;` and `return error;` are the idiom.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const = delete;  // Result<bool> must not be misread

  const T& value() const& {
    TRUCE_ASSERT(ok());
    return std::get<0>(state_);
  }
  T& value() & {
    TRUCE_ASSERT(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    TRUCE_ASSERT(ok());
    return std::get<0>(std::move(state_));
  }
  const E& error() const& {
    TRUCE_ASSERT(!ok());
    return std::get<1>(state_);
  }
  E&& error() && {
    TRUCE_ASSERT(!ok());
    return std::get<1>(std::move(state_));
  }

 private:
  std::variant<T, E> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const = delete;

  const Error& error() const& {
    TRUCE_ASSERT(!ok());
    return std::get<1>(state_);
  }
  Error&& error() && {
    TRUCE_ASSERT(!ok());
    return std::get<1>(std::move(state_));
  }

 private:
  std::variant<std::monostate, Error> state_;
};

// Leaves the function with the error of `expr`, if it has one.
#define TRUCE_RETURN_IF_ERROR(expr)                                   \
  do {                                                                \
    auto truce_result_ = (expr);                                      \
    if (!truce_result_.ok()) return std::move(truce_result_).error(); \
  } while (false)

#define TRUCE_CONCAT_INNER_(a, b) a##b
#define TRUCE_CONCAT_(a, b) TRUCE_CONCAT_INNER_(a, b)

// Declares or assigns `lhs` from the value of `expr`, or leaves the function with its error.
#define TRUCE_ASSIGN_OR_RETURN(lhs, expr) \
  TRUCE_ASSIGN_OR_RETURN_IMPL_(TRUCE_CONCAT_(truce_result_, __LINE__), lhs, expr)
#define TRUCE_ASSIGN_OR_RETURN_IMPL_(temp, lhs, expr) \
  auto temp = (expr);                                 \
  if (!temp.ok()) return std::move(temp).error();     \
  lhs = std::move(temp).value()

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_RESULT_H_
