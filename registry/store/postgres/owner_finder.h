// PgOwnerFinder: owners by id, name, ARN and service, asked of the database.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_OWNER_FINDER_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_OWNER_FINDER_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "registry/store/owner_finder.h"
#include "registry/store/postgres/connection.h"
#include "registry/store/postgres/pool.h"

namespace truce {

// One statement for each question, on what is committed. Thread-safe.
class PgOwnerFinder final : public OwnerFinder {
 public:
  // `pool` must outlive it.
  explicit PgOwnerFinder(PgPool& pool) : pool_(pool) {}

  Result<KeysById> WithIds(const std::vector<PublicId>& ids, std::size_t limit,
                           Deadline deadline) const override;
  Result<std::vector<KeyText>> WithName(std::string_view name, std::size_t limit,
                                        Deadline deadline) const override;
  Result<std::vector<KeyText>> WithArn(std::string_view arn, std::size_t limit,
                                       Deadline deadline) const override;
  Result<std::vector<KeyText>> OfService(const std::string& service, const KeyText& after,
                                         std::size_t limit, Deadline deadline) const override;
  Result<std::vector<ServiceCount>> Services(const std::string& after, std::size_t limit,
                                             Deadline deadline) const override;
  Result<std::set<std::string>> NamespacesOf(const std::string& cluster,
                                             const std::set<GroupKind>& kinds,
                                             Deadline deadline) const override;
  Result<void> CountAll(const CountFn& count, Deadline deadline) const override;

 private:
  Result<PgAnswer> Ask(PgStatement statement, Deadline deadline) const;
  Result<std::vector<KeyText>> Keys(PgStatement statement, Deadline deadline) const;

  PgPool& pool_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_OWNER_FINDER_H_
