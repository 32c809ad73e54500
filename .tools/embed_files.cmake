# Makes a C++ source that holds files as they are and compressed:
# cmake "-DINPUTS=a;b" -DOUTPUT=f.cc -DHEADER=h -DFUNCTION=F -P. The header declares F, which returns a
# std::span<const PageAsset>: name, ETag, content, the same by gzip.
find_program(gzip gzip REQUIRED)

# Sets <out> to the initialiser of an array of bytes.
function(truce_bytes out file)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  set(${out} "${bytes}" PARENT_SCOPE)
endfunction()

set(arrays "")
set(entries "")
set(number 0)
foreach(input IN LISTS INPUTS)
  get_filename_component(name "${input}" NAME)
  execute_process(
    COMMAND "${gzip}" -9 -n -c "${input}" OUTPUT_FILE "${OUTPUT}.gz" COMMAND_ERROR_IS_FATAL ANY)
  truce_bytes(plain "${input}")
  truce_bytes(small "${OUTPUT}.gz")
  file(SHA256 "${input}" hash)
  string(SUBSTRING "${hash}" 0 16 tag)
  string(APPEND arrays "constexpr char kPlain${number}[] = {${plain}};\nconstexpr char kSmall${number}[] = {${small}};\n")
  string(APPEND entries "    {\"${name}\", \"${tag}\", {kPlain${number}, sizeof kPlain${number}}, {kSmall${number}, sizeof kSmall${number}}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(REMOVE "${OUTPUT}.gz")
file(WRITE "${OUTPUT}"
     "// Made from files by .tools/embed_files.cmake.\n#include \"${HEADER}\"\n\nnamespace truce {\nnamespace {\n\n"
     "${arrays}\nconstexpr PageAsset kAssets[] = {\n${entries}};\n\n}  // namespace\n\n"
     "std::span<const PageAsset> ${FUNCTION}() { return kAssets; }\n\n}  // namespace truce\n")
