#include "peer/launch/agent/bundle.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <link.h>
#include <unistd.h>
#include <xxhash.h>

#include "peer/launch/agent/cache_folder.h"
#include "peer/launch/child.h"
#include "peer/launch/hear.h"
#include "peer/launch/processor.h"
#include "peer/launch/program/own_program.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in && !in.eof()) throw std::runtime_error(path + ": cannot be read");
  return bytes;
}

/// Returns whether it is of the C library or the kernel, which must be those of the machine itself.
bool is_of_the_system(const std::string& path) {
  constexpr std::array<std::string_view, 8> names = {"ld-linux",
                                                     "linux-vdso",
                                                     "libc.so",
                                                     "libm.so",
                                                     "libdl.so",
                                                     "librt.so",
                                                     "libpthread.so",
                                                     "libcuda"};
  const std::string name = fs::path(path).filename().string();
  return std::ranges::any_of(names, [&](std::string_view each) { return name.starts_with(each); });
}

int add_library(dl_phdr_info* info, std::size_t, void* list) {
  const std::string path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (path.starts_with('/') && !is_of_the_system(path))
    static_cast<std::vector<std::string>*>(list)->push_back(path);
  return 0;
}

/// Returns those of this process, which is the program or another build of it.
std::vector<std::string> libraries() {
  std::vector<std::string> paths;
  ::dl_iterate_phdr(add_library, &paths);
  return paths;
}

void pack(const std::string& program, const std::string& library, const std::string& archive) {
  const std::string name = fs::path(program).filename().string();
  std::vector<std::string> argv{"tar",
                                "--create",
                                "--gzip",
                                "--dereference",
                                "--absolute-names",
                                "--transform=s|.*/||",
                                "--transform=s|^" + name + "$|grapevine|",
                                "--file=" + archive,
                                program};
  if (!library.empty()) argv.push_back(library);
  std::ranges::copy(libraries(), std::back_inserter(argv));
  Child tar(argv);
  std::string said;
  hear_out(
      tar, [](const std::string&) {}, [&](const std::string& line) { said += "\n  " + line; });
  if (tar.status() != 0)
    throw std::runtime_error(fmt::format("tar could not pack {}:{}", program, said));
}

std::string digits_of(const std::string& bytes) {
  return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

/// Returns where the bundles of others may lie: the first one that is there counts.
std::vector<fs::path> shelves(const std::string& program) {
  std::error_code none;
  std::vector<fs::path> all{fs::canonical(program, none).parent_path()};
  const char* const data = std::getenv("XDG_DATA_HOME");
  const char* const home = std::getenv("HOME");
  if (data != nullptr && *data == '/')
    all.emplace_back(fs::path(data) / "grapevine");
  else if (home != nullptr && *home == '/')
    all.emplace_back(fs::path(home) / ".local/share/grapevine");
  return all;
}

}  // namespace

std::string Bundle::read() const {
  return read_file(path);
}

std::string file_of_bundle(std::string_view processor) {
  return fmt::format("grapevine-{}.tar.gz", processor);
}

Bundle bundle_of(const std::string& program) {
  std::string bytes = read_file(program);
  if (bytes.empty()) throw std::runtime_error(program + ": cannot be read, or is empty");
  const std::string library = library_of(program);
  if (!library.empty()) bytes += read_file(library);
  const std::string name = digits_of(bytes);
  const std::string path = fmt::format("{}/{}.tar.gz", cache_folder("bundles"), name);
  if (!fs::exists(path)) {
    const std::string part = fmt::format("{}.{}", path, ::getpid());
    pack(program, library, part);
    fs::rename(part, path);
  }
  return {.processor = std::string(own_processor),
          .name = name,
          .path = path,
          .bytes = fs::file_size(path)};
}

std::vector<Bundle> other_bundles(const std::string& program) {
  std::vector<Bundle> all;
  for (const std::string_view processor : processors) {
    if (processor == own_processor) continue;
    for (const fs::path& shelf : shelves(program)) {
      const fs::path file = shelf / file_of_bundle(processor);
      std::error_code none;
      if (!fs::is_regular_file(file, none)) continue;
      const std::string bytes = read_file(file.string());
      all.push_back({std::string(processor), digits_of(bytes), file.string(), bytes.size()});
      break;
    }
  }
  return all;
}

}  // namespace gv
