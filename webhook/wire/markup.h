// Characters of anybody's text inside of XML and HTML.
#ifndef TRUCE_WEBHOOK_WIRE_MARKUP_H_
#define TRUCE_WEBHOOK_WIRE_MARKUP_H_

#include <string>

namespace truce {

// Appends `c` for a place between tags or between the double quotes of an attribute: a character
// that would be markup there as its entity, every other one as it is. The caller replaces
// characters that the format does not have (control characters in XML).
void AppendToMarkup(char c, std::string& out);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_MARKUP_H_
