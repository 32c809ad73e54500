// Characters of anybody's text inside of XML and HTML.
#ifndef TRUCE_WEBHOOK_WIRE_MARKUP_H_
#define TRUCE_WEBHOOK_WIRE_MARKUP_H_

#include <string>

namespace truce {

// Appends `c` as it may stand between tags and between the double quotes of an attribute: what
// would be markup there as its entity, everything else as it is. What the format does not have
// (control characters in XML) is the caller's to replace.
void AppendToMarkup(char c, std::string& out);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_MARKUP_H_
