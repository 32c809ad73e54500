// Words for people: types, resources, objects, owners.
#ifndef TRUCE_POLICIES_PEOPLE_H_
#define TRUCE_POLICIES_PEOPLE_H_

#include <string>
#include <string_view>

#include "registry/identity/values.h"

namespace truce {

// "s3/Bucket" → "S3 bucket", "rds/DBInstance" → "RDS DB instance".
std::string TypeForPeople(std::string_view type);
void AppendType(std::string_view type, std::string& out);  // the same, behind `out`

// "ObjectStorage team-a/artifacts"; "Bucket artifacts" when cluster-scoped.
std::string ObjectForPeople(const Slot& slot);
void AppendObject(const Slot& slot, std::string& out);  // the same, behind `out`

}  // namespace truce

#endif  // TRUCE_POLICIES_PEOPLE_H_
