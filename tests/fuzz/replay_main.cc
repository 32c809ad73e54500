// Runs a fuzz target over files instead of random input, so that every build replays the corpus.
//
//   <target> PATH...    each PATH is a file, or a folder of which every file is run
//
// Exit code 0 when all ran, 2 when a path cannot be read or there was no file at all; a finding
// ends the process the way it does under libFuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

bool Replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  // The name stays on the screen when the input makes the target abort.
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);
  // A copy of exactly this size lets the address sanitizer see a read past the end.
  const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(input.data(), input.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    std::vector<std::filesystem::path> paths = {argv[i]};
    if (std::filesystem::is_directory(argv[i])) {
      paths.clear();
      for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
        if (entry.is_regular_file()) paths.push_back(entry.path());
      }
    }
    for (const std::filesystem::path& path : paths) {
      if (!Replay(path)) return 2;
      ++count;
    }
  }
  std::printf("%zu inputs replayed\n", count);
  return count > 0 ? 0 : 2;
}
