#include "peer/launch/agent/transport/bundle.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <link.h>
#include <unistd.h>
#include <xxhash.h>

#include "optim/machine/cache_home.h"
#include "peer/fleet/file/source.h"
#include "peer/launch/launcher/peer_speeds.h"
#include "peer/launch/process/process.h"
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

/// Returns whether a library is the C library's or the driver's: these must be the machine's own.
bool is_of_the_system(const std::string& path) {
  constexpr std::array<std::string_view, 8> names = {"ld-linux",      "linux-vdso", "libc.so",
                                                     "libm.so",       "libdl.so",   "librt.so",
                                                     "libpthread.so", "libcuda"};
  const std::string name = fs::path(path).filename().string();
  return std::ranges::any_of(names, [&](std::string_view each) { return name.starts_with(each); });
}

int add_library(dl_phdr_info* info, std::size_t, void* list) {
  const std::string path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (path.starts_with('/') && !is_of_the_system(path))
    static_cast<std::vector<std::string>*>(list)->push_back(path);
  return 0;
}

/// Returns the libraries of this process, which is the program or another build.
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

/// Returns the folders for other bundles; the first one that exists counts.
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

/// Prefixes of a path within a word: `topology: file:office.edges`.
constexpr std::array<std::string_view, 2> file_prefixes{"file:", "matrices:"};

struct NamedPath {
  std::string key, prefix;
  fs::path written;  ///< as written in the file
  fs::path path;     ///< absolute path here
  bool own = false;  ///< `{id}`: each machine has parts of its own, which never travel
  bool travels = false;
};

/// Paths in the fleet file, and the folder of its data on the other machine.
struct NamedPaths {
  std::vector<NamedPath> all{};
  std::string folder{};  ///< folder of the data on that machine; "" for the same paths as here
};

bool is_data(const std::string& key) {
  return key.starts_with("data.");
}

std::string prefix_of(const std::string& value) {
  for (const std::string_view prefix : file_prefixes)
    if (value.starts_with(prefix)) return std::string(prefix);
  return "";
}

/// Returns the values that are paths of existing files; other values are words. `{id}` stands for
/// files that differ between machines.
NamedPaths named_paths(const std::string& fleet,
                       const std::vector<std::string>& sets,
                       const std::string& host) {
  const fs::path folder = fs::absolute(fleet).parent_path();
  NamedPaths paths;
  bool push = false;
  for (const auto& [key, value] : fleet_keys(fleet, sets)) {
    push = push || (key == "launch.data" && value == "push");
    if (!host.empty() && key == "hosts." + host + ".data") paths.folder = value;
    const bool graph = key.starts_with("topology.");
    const bool file = key == "links.file" || key == "model.start" || key == "plugin";
    if (!graph && !file && !is_data(key)) continue;
    const std::string prefix = prefix_of(value);
    const std::string name = value.substr(prefix.size());
    std::error_code none;
    const bool word = key.ends_with(".kind") && prefix.empty();
    const bool own = key == "data.file" && name.find("{id}") != std::string::npos;
    if (name.empty() || word || (!own && !fs::exists(folder / name, none))) continue;
    paths.all.push_back({key, prefix, name, (folder / name).lexically_normal(), own});
  }
  for (NamedPath& named : paths.all)
    named.travels = is_data(named.key) ? push && !named.own : fs::is_regular_file(named.path);
  return paths;
}

std::string name_there(const NamedPath& named) {
  return "copied/" + named.key + named.path.extension().string();
}

/// Returns the path of data on the other machine, in the host's folder for data if it has one.
std::string data_path_there(const NamedPath& named, const std::string& folder) {
  if (folder.empty()) return named.path.string();
  const fs::path& name = named.written;
  return (fs::path(folder) / (name.is_absolute() ? name.filename() : name))
      .lexically_normal()
      .string();
}

/// Adds a file, or all files below a folder.
void add_files(const NamedPath& named, std::map<std::string, std::string>& files) {
  const std::string name = name_there(named);
  if (!fs::is_directory(named.path)) {
    files[name] = read_file(named.path);
    return;
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(named.path))
    if (entry.is_regular_file())
      files[name + "/" + entry.path().lexically_relative(named.path).generic_string()] =
          read_file(entry.path());
}

/// Throws if the data are more than may be sent, before they are read.
void check_size(const std::vector<NamedPath>& all) {
  std::uint64_t bytes = 0;
  for (const NamedPath& named : all) {
    if (!named.travels || !is_data(named.key)) continue;
    if (!fs::is_directory(named.path)) {
      bytes += fs::file_size(named.path);
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(named.path))
      if (entry.is_regular_file()) bytes += entry.file_size();
  }
  if (bytes <= most_pushed_bytes) return;
  throw std::runtime_error(fmt::format(
      "the data are {} MB, and 256 MB at most are sent to other machines\nhelp:  leave out "
      "`launch: {{ data: push }}` and put them on each host, at the same path or in the folder "
      "that "
      "`hosts: {{ NAME: {{ data: FOLDER }} }}` says",
      bytes / 1'000'000));
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

std::string cache_folder(const std::string& name) {
  namespace fs = std::filesystem;
  const std::string home = cache_home();
  if (home.empty())
    throw std::runtime_error(
        "no folder for a cache is known: neither HOME nor XDG_CACHE_HOME is set");
  const fs::path folder = fs::path(home) / name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) throw std::runtime_error(folder.string() + ": " + error.message());
  return folder.string();
}

std::map<std::string, std::string> copied_files(const std::string& fleet,
                                                const std::vector<std::string>& sets) {
  std::map<std::string, std::string> files{{"fleet.yaml", read_file(fleet)}};
  const NamedPaths paths = named_paths(fleet, sets, "");
  check_size(paths.all);
  for (const NamedPath& named : paths.all)
    if (named.travels) add_files(named, files);
  return files;
}

std::vector<std::string> data_paths(const std::string& fleet,
                                    const std::vector<std::string>& sets,
                                    const std::string& host) {
  std::vector<std::string> there;
  const NamedPaths paths = named_paths(fleet, sets, host);
  std::error_code none;
  for (const NamedPath& named : paths.all)
    if (!named.travels && fs::exists(named.path, none))
      there.push_back(is_data(named.key) ? data_path_there(named, paths.folder)
                                         : named.path.string());
  return there;
}

std::vector<std::string> copied_sets(const std::string& fleet,
                                     const std::vector<std::string>& sets,
                                     const std::string& host) {
  std::vector<std::string> args;
  for (const std::string& set : sets) args.insert(args.end(), {"--set", set});
  const NamedPaths paths = named_paths(fleet, sets, host);
  for (const NamedPath& named : paths.all) {
    const std::string there = named.travels        ? name_there(named)
                              : is_data(named.key) ? data_path_there(named, paths.folder)
                                                   : named.path.string();
    if (there == named.written) continue;  // the same there
    args.insert(args.end(), {"--set", fmt::format("{}={}{}", named.key, named.prefix, there)});
  }
  return args;
}

}  // namespace gv
