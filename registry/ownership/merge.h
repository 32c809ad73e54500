// How a resource moves to another of its names, and how two that turn out to be one become one
// (N3).
#ifndef TRUCE_REGISTRY_OWNERSHIP_MERGE_H_
#define TRUCE_REGISTRY_OWNERSHIP_MERGE_H_

#include <string>

#include "registry/ownership/ledger.h"

namespace truce {

// Writes what became of the names of `owner` to the audit log (kMoved).
void AuditNames(const Owner& owner, std::string cause, Ledger& ledger);

// The resource at `from` is kept under `to`, another of its names, from now on.
void RenameKey(const KeyText& from, const KeyText& to, Ledger& ledger);

// The resource at `key` has this further name from now on.
void PutFurther(const KeyText& name, const KeyText& key, bool observed, Ledger& ledger);

// What is told by fields is the same but for the account; an id says nothing of it.
bool SameParts(const KeyText& a, const KeyText& b);

// Whether both may be one resource: of one root, or of one party where one is a record; never two
// that are located differently, or what is owned outside.
bool MayMerge(const Owner& a, const Owner& b, const Ledger& ledger);

// What stands at `from` becomes part of the resource at `to`: rows, names, agreements, and the
// older id and time; the younger id finds it still.
void Merge(const KeyText& from, const KeyText& to, Ledger& ledger);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_MERGE_H_
