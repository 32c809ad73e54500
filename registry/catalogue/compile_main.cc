// truce_catalogue_compiler TYPES.tsv OUT.cc [NAME]: checks a type file and writes it as C++, so
// that a malformed row fails the build with its place. NAME is what errors call the file.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "registry/catalogue/catalogue.h"

namespace {

// Comments are for the file's readers; their lines stay, empty, so that line numbers stay right.
void WriteLine(std::string_view line, std::ofstream& out) {
  out << "    \"";
  if (!line.starts_with('#')) {
    for (const char c : line) {
      if (c == '"' || c == '\\') out << '\\';
      if (c == '\t') {
        out << "\\t";
      } else if (c == '?') {
        out << "\\?";  // no trigraphs
      } else if (c != '\r') {
        out << c;
      }
    }
  }
  out << "\",\n";
}

void WriteSource(std::string_view text, std::ofstream& out) {
  out << "// Written by truce_catalogue_compiler; do not edit.\n"
         "#include <span>\n#include <string_view>\n\n"
         "namespace truce {\nnamespace {\n"
         "constexpr std::string_view kLines[] = {\n";
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    WriteLine(text.substr(0, end), out);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  out << "};\n}  // namespace\n\n"
         "std::span<const std::string_view> BuiltInCatalogueLines();\n"
         "std::span<const std::string_view> BuiltInCatalogueLines() { return kLines; }\n\n"
         "}  // namespace truce\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fputs("usage: truce_catalogue_compiler TYPES.tsv OUT.cc [NAME]\n", stderr);
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) {
    std::fprintf(stderr, "%s: cannot be read\n", argv[1]);
    return 2;
  }
  const auto catalogue = truce::Catalogue::Parse(text, argc == 4 ? argv[3] : argv[1]);
  if (!catalogue.ok()) {
    std::fprintf(stderr, "%s\n", catalogue.error().message.c_str());
    return 1;
  }
  std::ofstream out(argv[2], std::ios::binary | std::ios::trunc);
  WriteSource(text, out);
  out.close();
  if (!out) {
    std::fprintf(stderr, "%s: cannot be written\n", argv[2]);
    return 2;
  }
  return 0;
}
