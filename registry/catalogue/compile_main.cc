// truce_catalogue_compiler TYPES.tsv NAMES.tsv OUT.cc: checks a type file and what stands over it,
// and writes both as C++, so that a malformed row fails the build with its place.
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

void WriteLines(std::string_view name, std::string_view text, std::ofstream& out) {
  out << "constexpr std::string_view " << name << "[] = {\n";
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    WriteLine(text.substr(0, end), out);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  out << "};\n";
}

void WriteSource(std::string_view types, std::string_view names, std::ofstream& out) {
  out << "// Written by truce_catalogue_compiler; do not edit.\n"
         "#include <span>\n#include <string_view>\n\n"
         "namespace truce {\nnamespace {\n";
  WriteLines("kTypes", types, out);
  WriteLines("kNames", names, out);
  out << "}  // namespace\n\n"
         "std::span<const std::string_view> BuiltInTypeLines();\n"
         "std::span<const std::string_view> BuiltInTypeLines() { return kTypes; }\n"
         "std::span<const std::string_view> BuiltInNameLines();\n"
         "std::span<const std::string_view> BuiltInNameLines() { return kNames; }\n\n"
         "}  // namespace truce\n";
}

bool ReadFile(const char* path, std::string& text) {
  std::ifstream in(path, std::ios::binary);
  text.assign((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) std::fprintf(stderr, "%s: cannot be read\n", path);
  return static_cast<bool>(in);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: truce_catalogue_compiler TYPES.tsv NAMES.tsv OUT.cc\n", stderr);
    return 2;
  }
  std::string types;
  std::string names;
  if (!ReadFile(argv[1], types) || !ReadFile(argv[2], names)) return 2;
  const auto catalogue = truce::Catalogue::Parse({types, argv[1]}, {names, argv[2]});
  if (!catalogue.ok()) {
    std::fprintf(stderr, "%s\n", catalogue.error().message.c_str());
    return 1;
  }
  std::ofstream out(argv[3], std::ios::binary | std::ios::trunc);
  WriteSource(types, names, out);
  out.close();
  if (!out) {
    std::fprintf(stderr, "%s: cannot be written\n", argv[3]);
    return 2;
  }
  return 0;
}
