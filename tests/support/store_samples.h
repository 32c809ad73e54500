// Rows, owners and random changes for the tests of stores.
#ifndef TRUCE_TESTS_SUPPORT_STORE_SAMPLES_H_
#define TRUCE_TESTS_SUPPORT_STORE_SAMPLES_H_

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "registry/ownership/rows.h"
#include "registry/store/store.h"

namespace truce::testing {

// A deadline far enough for any step of a test.
inline Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(60); }
// A deadline that has passed.
inline Deadline Past() { return std::chrono::steady_clock::now() - std::chrono::seconds(1); }

inline Timestamp At(std::int64_t milliseconds) {
  return Timestamp(std::chrono::milliseconds(milliseconds));
}

Slot SampleSlot(std::string_view name);
ResourceId SampleId(std::string_view name);  // in the order of `name`, as SampleKey
KeyText SampleKey(std::string_view name);
// A managing reservation of the resource `name` by object `uid` in slot `name`-`uid`.
Row SampleRow(std::string_view name, std::string_view uid);
// An owner of the resource `name` whose root is the slot of SampleRow(name, uid).
Owner SampleOwner(std::string_view name, std::string_view uid);
Object SampleObject(std::string_view uid);
AuditEntry SampleGrant(const Owner& owner);

// What the resource `name` is declared by: SampleKey(name).
ResourceName SampleKeyName(std::string_view name);
// Another name of it: the same with the account 123456789012.
ResourceName SampleName(std::string_view name);

// What a first declaration writes: row, owner, object, the name SampleKeyName and an audit entry,
// with texts of realistic length.
Changes SampleCreate(std::string_view name, std::string_view uid);
// SampleCreate, and SampleName(name).
Changes SampleNamedCreate(std::string_view name, std::string_view uid);
// The same of an object that only observes it, so that nobody owns it.
Changes SampleObserve(std::string_view name, std::string_view uid);
// Takes back what these wrote, but for the audit entry.
Changes SampleEnd(std::string_view name, std::string_view uid);

// The same with an object for each row that has none, and without the end of one whose rows stay.
Changes WithObjects(Changes changes, const Facts& facts);
// Calls Store::Apply with these changes, WithObjects.
Result<void> Write(Store& store, const Changes& changes);
// Reads one value from facts; aborts the test when the store cannot be read.
std::optional<Owner> OwnerIn(const Store& store, const ResourceId& id);

// Random changes over a small world, so that they often meet. About one in seven breaks a
// constraint.
Changes RandomChanges(std::mt19937_64& random);

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_STORE_SAMPLES_H_
