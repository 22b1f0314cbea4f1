#include "peer/fleet/plugin.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>

#include <dlfcn.h>
#include <fmt/format.h>

#include "gossip/plugin.h"
#include "graph/formats/graph_file.h"
#include "optim/printable.h"

namespace gv {
namespace {

constexpr std::uint64_t largest_plugin = std::uint64_t{256} << 20;
constexpr std::size_t hash_digits = 12;

std::string last_error() {
  const char* const text = ::dlerror();
  return text == nullptr ? "it cannot be loaded" : printable(text, 500);
}

Verdict refuse_sources(const std::string& path) {
  const std::string theirs = sources_of_plugin(file_bytes(path, largest_plugin));
  if (theirs.empty())
    return "it is no plug-in of Grapevine: nothing in it is made by GRAPEVINE_PLUGIN";
  if (theirs == sources_hash) return {};
  return fmt::format(
      "it was compiled with the sources {}, and this program is of the sources {}: build it again "
      "with the headers of this program",
      theirs,
      sources_hash);
}

/// Puts into the table the rows that the plug-in says it has.
Verdict add(const std::string& path) {
  void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) return last_error();
  const auto* const plugin = static_cast<const Plugin*>(::dlsym(object, "grapevine_plugin"));
  if (plugin == nullptr) return last_error();
  return add_algorithms({plugin->rows, plugin->count});
}

}  // namespace

std::string sources_of_plugin(const std::string& bytes) {
  const std::size_t at = bytes.find(plugin_mark);
  if (at == std::string::npos) return "";
  const std::string hash = bytes.substr(at + std::string_view(plugin_mark).size(), hash_digits);
  const auto digit = [](unsigned char c) { return std::isxdigit(c) != 0; };
  return hash.size() == hash_digits && std::ranges::all_of(hash, digit) ? hash : "";
}

Verdict load_plugin(const std::string& path) try {
  // A fleet file is read several times, and by several threads of a program that embeds fleets.
  static std::mutex mutex;
  static std::set<std::string> loaded;
  const std::lock_guard lock(mutex);
  const std::string real = std::filesystem::canonical(path).string();
  if (loaded.contains(real)) return {};
  Verdict wrong = refuse_sources(real);
  if (wrong.empty()) wrong = add(real);
  if (wrong.empty()) loaded.insert(real);
  return wrong;
} catch (const std::exception& e) {
  return printable(e.what(), 500);
}

}  // namespace gv
