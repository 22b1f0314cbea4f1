// Feeds files to a fuzz target as libFuzzer does, in an ordinary build, so that old findings stay
// fixed. Arguments: files, and folders of files.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/text_of.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

void replay(const fs::path& path) {
  const std::string bytes = gv::text_of(path);
  // A buffer of exactly this size, so that a sanitizer notices reads beyond it.
  const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);  // the last line names the file that ended the program
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t replayed = 0;
  for (int k = 1; k < argc; ++k) {
    for (const fs::path& path : files_of(argv[k])) {
      replay(path);
      ++replayed;
    }
  }
  LLVMFuzzerTestOneInput(nullptr, 0);
  std::printf("%zu inputs\n", replayed);
  return replayed > 0 ? 0 : 1;
}
