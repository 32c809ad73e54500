// Migration: one step of a schema. Forward only, never edited after a release.
#ifndef TRUCE_REGISTRY_STORE_MIGRATION_H_
#define TRUCE_REGISTRY_STORE_MIGRATION_H_

#include <string_view>

namespace truce {

struct Migration {
  int version;                // from 1, without gaps
  std::string_view name;      // "0001_ownership"
  std::string_view checksum;  // SHA-256 of `sql`, hexadecimal
  std::string_view sql;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_MIGRATION_H_
