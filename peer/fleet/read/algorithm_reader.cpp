#include "peer/fleet/read/algorithm_reader.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <set>

#include <dlfcn.h>
#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "gossip/plugin.h"
#include "graph/formats/graph_file.h"
#include "optim/printable.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet_setup.h"
#include "peer/fleet/read/sections.h"

namespace gv {
namespace {

/// Returns all kinds, each once, or the orders of one kind.
std::vector<std::string> words(std::string_view kind, std::string_view AlgorithmRow::*column) {
  std::vector<std::string> words;
  for (const AlgorithmRow* row : algorithms()) {
    const std::string_view word = row->*column;
    const bool wanted = (kind.empty() || row->kind == kind) && !word.empty();
    if (wanted && (words.empty() || words.back() != word)) words.emplace_back(word);
  }
  return words;
}

class AlgorithmReader : Readers {
 public:
  AlgorithmReader(Source& source, Fleet& fleet) : Readers(source), fleet_(fleet) {}

  void read(const Value* value) {
    MapReader map(source_, value, "algorithm", true);
    set(map.take("kind"), fleet_.algorithm, choice(words("", &AlgorithmRow::kind)));
    const std::vector<std::string> orders = words(fleet_.algorithm, &AlgorithmRow::order);
    if (!orders.empty()) {
      fleet_.order = orders[0];
      set(map.take("order"), fleet_.order, choice(orders));
    }
    if (const AlgorithmRow* row = find_algorithm(fleet_.algorithm, fleet_.order)) {
      for (const Option& option : row->options)
        read_option(option, map.take(std::string(option.name)));
      read_codec(*row, map.take("codec", "floats"));
    }
    map.finish();
    add_servers(fleet_);
    if (fleet_.size() > most_peers)
      source_.error(*value, fmt::format("more than {} peers in all", most_peers));
  }

 private:
  void read_codec(const AlgorithmRow& row, const Value* value) {
    if (value == nullptr) return;
    if (row.codecs == Codecs::none)
      source_.error(*value,
                    fmt::format("{} sends its vectors as floats and takes no codec: `grapevine "
                                "algorithms` shows which methods do",
                                row.kind));
    MapReader map(source_, value, "algorithm.codec", true);
    std::string kind = codec_words()[0];
    const Value* word = map.take("kind");
    if (word == nullptr) source_.error(*value, "a codec has a `kind`, such as `int8`");
    set(word, kind, choice(codec_words()));
    Codec codec{.kind = codec_kind(kind)};
    if (codec.keeps_some()) map.read("fraction", codec.fraction);
    if (!codec.dense() && row.codecs == Codecs::dense)
      source_.error(
          *value,
          fmt::format(
              "`{}` loses most of a vector, and {} never makes up for it: take `choco-sgd`, "
              "`beer`, `deep-squeeze` or `parameter-server`, or `codec: int8`",
              kind, row.kind));
    map.finish();
    fleet_.codec = codec;
  }
  void read_word_of(const Option& option, const Value* value, double& setting) {
    const std::vector<std::string> words(option.words.begin(), option.words.end());
    std::string word = words[static_cast<std::size_t>(option.usual)];
    set(value, word, choice(words));
    setting = static_cast<double>(std::ranges::find(words, word) - words.begin());
  }
  void read_option(const Option& option, const Value* value) {
    double& setting = fleet_.settings[std::string(option.name)];
    setting = option.usual;
    if (!option.words.empty()) return read_word_of(option, value, setting);
    if (!option.whole) return set(value, setting, number(option.least, option.most));
    set(value, setting,
        count(static_cast<std::uint64_t>(option.least), static_cast<std::uint64_t>(option.most)));
  }

  Fleet& fleet_;
};

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
      theirs, sources_hash);
}

/// Adds the plug-in's rows to the table.
Verdict add(const std::string& path) {
  void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) return last_error();
  const auto* const plugin = static_cast<const Plugin*>(::dlsym(object, "grapevine_plugin"));
  if (plugin == nullptr) return last_error();
  return add_algorithms({plugin->rows, plugin->count});
}

}  // namespace

void read_plugin(Source& source,
                 const Value* value,
                 const std::filesystem::path& folder,
                 Fleet& fleet) {
  if (value == nullptr) return;
  const std::string path = read_path(source, *value, folder);
  if (path.empty()) return;
  if (const std::string missing = no_file(path); !missing.empty())
    return source.error(*value, fmt::format("no such file: {}", missing),
                        "name a shared object that was built as examples/method is");
  if (const Verdict wrong = load_plugin(path); !wrong.empty())
    return source.error(*value, fmt::format("{}: {}", path, wrong));
  try {
    fleet.plugin_content = content_of({path});
  } catch (const std::exception& e) {
    source.error(*value, e.what());
  }
}

void read_algorithm(Source& source, const Value* value, Fleet& fleet) {
  AlgorithmReader(source, fleet).read(value);
}

void check_algorithm(Source& source, const Value& root, const Fleet& fleet, const MixingMatrix* w) {
  const AlgorithmRow* row = find_algorithm(fleet.algorithm, fleet.order);
  if (row == nullptr) return;
  const Setup setup = setup_of(fleet);
  const std::string why = objection_to(*row, setup, w);
  if (why.empty()) return;
  // check_program and check_agent report these.
  if (fleet.program && !objection_to_program(*row, setup).empty()) return;
  if (fleet.agent && !agent_use(*row).objection.empty()) return;
  const Value::Entry* at = root.find("algorithm");
  source.error(at != nullptr ? at->value : root, why);
}

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
