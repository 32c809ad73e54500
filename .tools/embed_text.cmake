# Makes a C++ source that holds a text file: cmake -DINPUT=f -DOUTPUT=f.cc -DHEADER=h -DFUNCTION=F -P
# The text must not hold the delimiter of the raw literal; literals are cut below the portable limit.
file(READ "${INPUT}" text)
set(content "// Made from a file by .tools/embed_text.cmake.\n#include \"${HEADER}\"\n\n#include <string>\n#include <string_view>\n\nnamespace truce {\n\n")
string(APPEND content "std::string_view ${FUNCTION}() {\n  static const std::string kText =\n")
string(LENGTH "${text}" length)
set(begin 0)
while(begin LESS length)
  string(SUBSTRING "${text}" ${begin} 8000 part)
  string(APPEND content "      std::string(R\"embedded(${part})embedded\") +\n")
  math(EXPR begin "${begin} + 8000")
endwhile()
string(APPEND content "      std::string();\n  return kText;\n}\n\n}  // namespace truce\n")
file(WRITE "${OUTPUT}" "${content}")
