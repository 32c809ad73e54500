#include "registry/store/postgres/libpq.h"

#include <dlfcn.h>

#include <string>
#include <string_view>

#include "registry/base/one_line.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr const char* kFile = "libpq.so.5";

// Stays loaded: connections may be closed as late as the process ends.
struct Library {
  void* handle = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  std::string problem;  // empty: all of it is there

  Library() {
    if (handle != nullptr) return;
    const char* why = ::dlerror();
    problem = why == nullptr ? kFile : why;
  }
};

Library& TheLibrary() {
  static Library library;
  return library;
}

}  // namespace

PqSymbol::PqSymbol(const char* name) {
  Library& library = TheLibrary();
  if (library.handle != nullptr) found_ = ::dlsym(library.handle, name);
  if (found_ != nullptr || !library.problem.empty()) return;
  library.problem.append(kFile).append(" is older than version 14, it has no ").append(name);
}

const Libpq& Pq() {
  static const Libpq kCalls;
  return kCalls;
}

Result<void> LoadLibpq() {
  static_cast<void>(Pq());
  const std::string& problem = TheLibrary().problem;
  if (problem.empty()) return {};
  return Error{ErrorCode::kInvalidArgument,
               "PostgreSQL's client library cannot be loaded: " + problem +
                   "; install the package libpq5 (postgresql-libs, libpq)"};
}

std::string PqLine(const char* said) {
  std::string_view text = said == nullptr ? "" : said;
  text = text.substr(0, text.find('\n'));
  return text.empty() ? "no reason given" : Folded(text);
}

}  // namespace truce
