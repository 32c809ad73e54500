// Question: a review of an object before somebody creates it.
#ifndef TRUCE_POLICIES_QUESTION_H_
#define TRUCE_POLICIES_QUESTION_H_

#include "policies/rule_case.h"

namespace truce {

class AskedOwnerships;

// A conflict that the asker has on record already only warns; nothing is ever written.
struct Question {
  // It acts for the party of its namespace, as an OwnershipCheck does, and may declare that party's
  // resources. Else for its object alone, as a manifest does.
  bool for_party = false;
  // The asker owns all that is imported from this list (`truce import --source`); empty: none.
  std::string source = {};
  // Ownerships of questions before it in the same check, which would be there by then; null: none.
  const AskedOwnerships* before = nullptr;
};

// Of a question: the registry has it on record as a manager of the resource, or of the one that
// `name` names. Of an admission never.
bool IsOnRecord(const RuleCase& c, const ResourceId& resource);
bool IsOnRecord(const RuleCase& c, const KeyText& name);

// Makes of `decision`, which is about `c`, the answer to the question: only new resources are
// refused, those of a check's party are its own, and nothing is to be written.
void Settle(const RuleCase& c, Decision& decision);

}  // namespace truce

#endif  // TRUCE_POLICIES_QUESTION_H_
