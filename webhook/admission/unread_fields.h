// managedFields are half of many a body, and nothing reads them: they are only checked.
#ifndef TRUCE_WEBHOOK_ADMISSION_UNREAD_FIELDS_H_
#define TRUCE_WEBHOOK_ADMISSION_UNREAD_FIELDS_H_

#include <cstddef>

namespace truce {

// The size of the JSON list that `text` begins with, where it is one as API servers write
// managedFields: lists, objects and texts, at most 64 inside each other, without blanks, in
// printable ASCII, escapes of one character included. 0: it is none, or another one. `text` ends
// with a zero, and 63 bytes behind that are readable.
std::size_t PlainListSize(const char* text);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_UNREAD_FIELDS_H_
