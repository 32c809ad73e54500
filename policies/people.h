// Words for people: types, resources, objects, owners.
#ifndef TRUCE_POLICIES_PEOPLE_H_
#define TRUCE_POLICIES_PEOPLE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "registry/identity/values.h"

namespace truce {

struct Owner;

// "s3/Bucket" → "S3 bucket", "rds/DBInstance" → "RDS DB instance".
std::string TypeForPeople(std::string_view type);
// The same without its service: "bucket".
std::string KindForPeople(std::string_view type);
void AppendType(std::string_view type, std::string& out);  // the same, behind `out`

// "ObjectStorage team-a/artifacts"; "Bucket artifacts" when cluster-scoped.
std::string ObjectForPeople(const Slot& slot);
void AppendObject(const Slot& slot, std::string& out);  // the same, behind `out`
// The same in a text that names `other` too: with the group where only that tells the two apart.
std::string ObjectBeside(const Slot& slot, const Slot& other);
bool OnlyGroupsDiffer(const Slot& a, const Slot& b);

// A text that an object says of itself, on one line and without backquotes, because a text has
// backquotes only around commands of ours.
std::string Said(std::string_view text);
void AppendSaid(std::string_view text, std::string& out);  // the same, behind `out`

// Parts of commands, which a shell can take as they are.

// Whether `text` needs no quotes there.
bool IsPlainWord(std::string_view text);
// A resource as truce's commands take it: "s3/Bucket/prod-artifacts"; by its id where the name says
// too little (several accounts or regions may have it) or is no plain word; else "RESOURCE".
std::string WordOf(const Owner& owner);
// How an operator frees what `owner` has: "truce release s3/Bucket prod-artifacts --reason '…'",
// with the account and region in which its name counts.
std::string ReleaseCommand(const Owner& owner);
// The same by its id, where its name would say too little or too much.
std::string ReleaseCommand(const ResourceId& id);
// The kind of `slot` as kubectl takes it: "bucket.s3.aws.upbound.io".
std::string KubectlKind(const Slot& slot);
// Which object kubectl is to act on: "queue.sqs.aws.upbound.io jobs -n team-a", or placeholders
// where a word of it could mean something to a shell.
std::string KubectlTarget(const Slot& slot);
// The words that make the deletion of a managed resource leave its cloud resource (KeepingField).
std::string KeepCommand(const Slot& slot);
// Behind it the deletion, which is not run where that failed.
std::string LetGoCommand(const Slot& slot);
// `root` as truce.dev/transfer-to takes it: "ObjectStorage/team-b/files", of a cluster-scoped one
// "Bucket.s3.aws.upbound.io/files". Placeholders as in KubectlTarget, here and below, where the
// group is added if only it distinguishes the successor from the owner.
std::string SuccessorWord(const Slot& root);
// `truce transfer RESOURCE --to team-a --successor … --force --reason '…'`, in backticks: an
// operator's command where no owner is left that could hand it over. `word`: the resource's.
std::string ForcedTransferCommand(std::string_view word, const Slot& successor);
// The annotation with which `owner` hands over to `successor`:
// "truce.dev/transfer-to=ObjectStorage/team-b/files", to one of another cluster
// "truce.dev/transfer-to=prod-2:ObjectStorage/team-b/files".
std::string TransferAnnotation(const Slot& owner, const Slot& successor);
// How `owner` hands over to `successor`, whomever it named before: "kubectl -n team-a annotate
// --overwrite objectstorage.platform.example.org artifacts
// truce.dev/transfer-to=ObjectStorage/team-b/files".
std::string TransferCommand(const Slot& owner, const Slot& successor);
// The same, behind `out`.
void AppendTransferCommand(const Slot& owner, const Slot& successor, std::string& out);

// The most of a command that a text shows: one that is cut does not work.
inline constexpr std::size_t kCommandBytesMax = 1024;

}  // namespace truce

#endif  // TRUCE_POLICIES_PEOPLE_H_
