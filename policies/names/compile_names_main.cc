// truce_names_compiler NAMES.tsv OUT.cc [NAME]: checks the file of AWS's name rules and writes it
// as C++, so that a malformed row fails the build with its place.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "policies/names/aws_names.h"

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fputs("usage: truce_names_compiler NAMES.tsv OUT.cc [NAME]\n", stderr);
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) {
    std::fprintf(stderr, "%s: cannot be read\n", argv[1]);
    return 2;
  }
  const auto rows = truce::ParseAwsNames(text, argc == 4 ? argv[3] : argv[1]);
  if (!rows.ok()) {
    std::fprintf(stderr, "%s\n", rows.error().message.c_str());
    return 1;
  }
  std::ofstream out(argv[2], std::ios::binary | std::ios::trunc);
  out << "// Written by truce_names_compiler; do not edit.\n"
         "#include <string_view>\n\nnamespace truce {\n\n"
         "std::string_view BuiltInAwsNamesText();\n"
         "std::string_view BuiltInAwsNamesText() {\n  return R\"TSV("
      << text << ")TSV\";\n}\n\n}  // namespace truce\n";
  out.close();
  if (!out) {
    std::fprintf(stderr, "%s: cannot be written\n", argv[2]);
    return 2;
  }
  return 0;
}
