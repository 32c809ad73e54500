# Writes a C++ source with every migration and its checksum (run by the build, cmake -P).
#
#   OUTPUT    the source to write
#   HEADER    what declares the function
#   FUNCTION  which gives them
#   INPUTS    the .sql files, separated by "|", named NNNN_words.sql, numbered from 0001 without a gap

string(REPLACE "|" ";" inputs "${INPUTS}")
set(content "// Made from schema/ by .tools/embed_migrations.cmake.\n")
string(APPEND content "#include \"${HEADER}\"\n\nnamespace truce {\nnamespace {\n\n")
string(APPEND content "const Migration kMigrations[] = {\n")
set(expected 0)
foreach(input IN LISTS inputs)
  get_filename_component(name "${input}" NAME_WE)
  math(EXPR expected "${expected} + 1")
  if(NOT name MATCHES "^(0*)([1-9][0-9]*)_[a-z_]+$" OR NOT CMAKE_MATCH_2 EQUAL expected)
    message(FATAL_ERROR "${input}: migration ${expected} was expected here, named NNNN_words.sql")
  endif()
  file(READ "${input}" sql)
  file(SHA256 "${input}" checksum)
  string(APPEND content "    {${expected}, \"${name}\", \"${checksum}\", R\"truce_sql(${sql})truce_sql\"},\n")
endforeach()
string(APPEND content "};\n\n}  // namespace\n\n")
string(APPEND content "std::span<const Migration> ${FUNCTION}() { return kMigrations; }\n\n}  // namespace truce\n")
file(WRITE "${OUTPUT}" "${content}")
