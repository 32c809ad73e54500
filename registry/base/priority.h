// How a thread shares the processor with the ones that answer.
#ifndef TRUCE_REGISTRY_BASE_PRIORITY_H_
#define TRUCE_REGISTRY_BASE_PRIORITY_H_

namespace truce {

// Of the calling thread, for the rest of its life. Best effort: where the system refuses, the
// thread goes on as before.

// It does not interrupt running threads when it has something to do: for one that works in batches,
// which are larger when those who bring it work may finish first.
void WorkInBatches();

// It gets about a tenth of what others get of a busy processor, and all of an idle one: for work
// that nobody waits for.
void WorkInBackground();

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_PRIORITY_H_
