// managedFields are half of many a body, and nothing reads them: they are checked where they stand,
// and what is parsed has a number in their place.
#ifndef TRUCE_WEBHOOK_ADMISSION_UNREAD_FIELDS_H_
#define TRUCE_WEBHOOK_ADMISSION_UNREAD_FIELDS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace truce {

// The size of the JSON list that `text` begins with, where it is one as API servers write
// managedFields: lists, objects and texts, at most 64 inside each other, without blanks, in
// printable ASCII, escapes of one character included. 0: it is none, or another one.
std::size_t PlainListSize(std::string_view text);

// Copies `text` with `mark`, which is a JSON number, in place of each such list that stands under
// the key managedFields, wherever that is; gives how many there were, and leaves `out` alone when
// there was none. With all of them or none `text` is JSON or is not: a key behind a comma is one,
// or no JSON at all, and such a list is a value like the number. Keeps the memory of `out`.
std::size_t CutUnread(std::string_view text, std::string_view mark, std::string& out);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_UNREAD_FIELDS_H_
