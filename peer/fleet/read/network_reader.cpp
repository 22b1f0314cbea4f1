#include <algorithm>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/read/sections.h"

namespace gv {
namespace {

constexpr const char* pair_help =
    "write `between: [0, 3]`, or hosts: `between: [anna, ben]`, `between: [pi, \"*\"]`";

void read_link_keys(MapReader& map, Time& latency, Time& jitter, double& bandwidth) {
  Source& source = map.source();
  map.read("latency", latency);
  const Value* own_jitter = map.read("jitter", jitter);
  if (const Value* value = map.take("bandwidth"))
    bandwidth = read_bandwidth(source, *value).value_or(bandwidth);
  if (own_jitter != nullptr && jitter > latency) {
    source.error(*own_jitter,
                 fmt::format("a jitter of {} ms around a latency of {} ms",
                             std::chrono::duration<double, std::milli>(jitter).count(),
                             std::chrono::duration<double, std::milli>(latency).count()),
                 "the latency of a frame is `latency` -+ `jitter`: jitter must not be the larger");
  }
  if (own_jitter == nullptr) jitter = std::min(jitter, latency);
}

/// Reads the list of exceptional links, in the fleet file or in a separate file.
class LinkReader {
 public:
  LinkReader(const std::vector<std::string>& hosts, NetworkSpec& network)
      : hosts_(hosts), network_(network), usual_(network.link(0, 0)) {}

  void read(Source& source, const Value& list) {
    if (list.kind != Value::Kind::sequence)
      return source.error(list, "expected a list of links",
                          "such as `links: [{ between: [0, 3], latency: 20 ms }]`, or `links: { "
                          "file: lan.links.yaml }`");
    for (const Value& item : list.items) read_link(source, item);
    for (const auto& [ends, link] : stars_)
      for (const PeerId a : ends.first)
        for (const PeerId b : ends.second)
          if (a != b) network_.links.emplace(std::minmax(a, b), link);
  }

  /// Reads { pi: 49 Mbit }: everything that a host sends to others passes its card, whose bandwidth
  /// its peers share evenly. Traffic within the host does not.
  void read_cards(Source& source, const Value& cards) {
    if (cards.kind != Value::Kind::map)
      return source.error(cards, "expected hosts and bandwidths",
                          "such as `cards: { pi: 49 Mbit }`");
    for (const Value::Entry& entry : cards.entries) {
      Peers peers;
      for (PeerId i = 0; i < hosts_.size(); ++i)
        if (hosts_[i] == entry.key) peers.push_back(i);
      const auto bandwidth = read_bandwidth(source, entry.value);
      if (!bandwidth) continue;
      if (*bandwidth <= 0)
        source.error(entry.value, "a card needs a bandwidth above 0",
                     "leave out a host whose card does not limit its bandwidth");
      for (const PeerId a : peers) {
        network_.cards[a] = *bandwidth / static_cast<double>(peers.size());
        for (const PeerId b : peers)
          if (a < b) network_.links.try_emplace({a, b}, usual_).first->second.inside = true;
      }
    }
  }

 private:
  using Peers = std::vector<PeerId>;

  /// Reads a peer's number, a host's name, or "*".
  std::optional<Peers> read_end(Source& source, const Value& value) {
    Peers peers;
    const bool number = value.kind == Value::Kind::scalar && !value.text.empty() &&
                        value.text.find_first_not_of("0123456789") == std::string::npos;
    if (number || value.kind != Value::Kind::scalar) {
      const PeerId last = static_cast<PeerId>(std::max<std::size_t>(hosts_.size(), 1) - 1);
      const auto peer = read_count(source, value, 0, last);
      if (!peer) return {};
      return Peers{static_cast<PeerId>(*peer)};
    }
    for (PeerId i = 0; i < hosts_.size(); ++i)
      if (value.text == "*" || hosts_[i] == value.text) peers.push_back(i);
    if (!peers.empty()) return peers;
    source.error(value, fmt::format("no peer is on a host `{}`", printable(value.text, 80)),
                 pair_help);
    return {};
  }

  void read_link(Source& source, const Value& item) {
    MapReader map(source, &item, "links");
    const Value* between = map.take("between");
    LinkSpec link = usual_;
    const std::size_t wrong_before = source.diagnostics().size();
    read_link_keys(map, link.latency, link.jitter, link.bandwidth);
    const Value::Entry* const own = item.find("bandwidth");
    if (own != nullptr && link.bandwidth <= 0 && source.diagnostics().size() == wrong_before)
      source.error(own->value, "bandwidth must be above 0",
                   "leave `bandwidth` out of a link that has no limit of its own");
    map.finish();
    if (between == nullptr) return source.error(item, "missing key `between`", pair_help);
    if (between->kind != Value::Kind::sequence || between->items.size() != 2)
      return source.error(*between, "expected two peers", pair_help);
    const auto first = read_end(source, between->items[0]);
    const auto second = read_end(source, between->items[1]);
    if (!first || !second) return;
    if (between->items[0].text == "*" || between->items[1].text == "*")
      return stars_.push_back({{*first, *second}, link});
    add(source, item, *between, *first, *second, link);
  }

  void add(Source& source,
           const Value& item,
           const Value& between,
           const Peers& first,
           const Peers& second,
           const LinkSpec& link) {
    std::set<std::pair<PeerId, PeerId>> pairs;
    for (const PeerId a : first)
      for (const PeerId b : second)
        if (a != b) pairs.insert(std::minmax(a, b));
    if (pairs.empty())
      source.error(between, fmt::format("peer {} has no link with itself", first.front()),
                   pair_help);
    for (const auto& pair : pairs)
      if (!network_.links.emplace(pair, link).second)
        return source.error(
            item,
            fmt::format("the link between {} and {} is listed twice", pair.first, pair.second),
            "remove one; a link is the same in both directions");
  }

  const std::vector<std::string>& hosts_;
  NetworkSpec& network_;
  LinkSpec usual_;
  /// Entries with "*", for links without their own entry.
  std::vector<std::pair<std::pair<Peers, Peers>, LinkSpec>> stars_;
};

void read_links_file(Source& source,
                     const Value& links,
                     const std::filesystem::path& folder,
                     LinkReader& reader) {
  MapReader map(source, &links, "links");
  const Value* file = map.take("file");
  map.finish();
  if (file == nullptr) return;  // `file` has no value, which is reported
  const std::string path = read_path(source, *file, folder);
  if (path.empty()) return;
  Source other(path);
  const Value root = other.parse_file();
  if (other.diagnostics().empty()) {
    MapReader inside(other, &root, "");
    const Value* version = inside.take("version");
    const Value* list = inside.take("links");
    const Value* cards = inside.take("cards");
    inside.finish();
    if (version == nullptr || version->text != "1" || list == nullptr)
      other.error(root, "a file of links has `version: 1` and `links`",
                  "`grapevine bench links FILE` makes one");
    else
      reader.read(other, *list);
    if (cards != nullptr) reader.read_cards(other, *cards);
  }
  if (other.diagnostics().empty()) return;
  const Diagnostic& first = other.diagnostics().front();
  source.error(*file, fmt::format("{}: {}", first.where, first.message), first.help);
}

}  // namespace

NetworkSpec read_network(Source& source,
                         const Value* network,
                         const Value* links,
                         const std::vector<std::string>& hosts,
                         const std::filesystem::path& folder) {
  NetworkSpec spec;
  MapReader map(source, network, "network");
  read_link_keys(map, spec.latency, spec.jitter, spec.bandwidth);
  map.choose("shape", spec.shape);
  map.read("emulate", spec.emulate);
  const Value* local = map.choose("local", spec.local);
  if (local != nullptr && local->text == "shared" && spec.emulate)
    source.error(*local, "shared memory and an emulated network exclude each other",
                 "emulation delays what is sent, and shared memory sends nothing: leave out "
                 "`local` or `emulate`");
  map.finish();
  if (links == nullptr) return spec;
  LinkReader reader(hosts, spec);
  const bool has_file = links->kind == Value::Kind::map && links->find("file") != nullptr;
  has_file ? read_links_file(source, *links, folder, reader) : reader.read(source, *links);
  return spec;
}

}  // namespace gv
