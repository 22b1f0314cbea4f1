#include "peer/fleet/peers_reader.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/spec/nearest.h"
#include "optim/printable.h"
#include "peer/fleet/file/readers.h"

namespace gv {
namespace {

class PeersReader : Readers {
 public:
  PeersReader(Source& source, Fleet& fleet) : Readers(source), fleet_(fleet) {}

  void read(const Value* value, const PeerSpec& usual) {
    if (value == nullptr || value->kind == Value::Kind::scalar) {
      std::uint32_t n = 2;
      set(value, n, count("peers"));
      fleet_.peers.assign(n, usual);
      return;
    }
    if (value->kind == Value::Kind::map) return read_each_host(*value, usual);
    if (value->kind != Value::Kind::sequence || value->items.empty()) {
      source_.error(*value,
                    "expected a number of peers, { per_host: N }, or a list of { host, device, "
                    "precision, count, threads, batch, speed }");
      fleet_.peers.assign(1, usual);
      return;
    }
    for (const Value& item : value->items) read_group(item, usual);
  }

 private:
  void read_group(const Value& item, PeerSpec peer) {
    MapReader map(source_, &item, "peers");
    std::uint32_t n = 1;
    if (const Value* host = map.take("host")) {
      set(host, peer.host, word());
      if (std::ranges::find(fleet_.hosts, peer.host, &HostSpec::name) == fleet_.hosts.end())
        refuse_host(*host, peer.host);
    }
    read_kind(map, peer);
    set(map.take("count"), n, count("peers.count"));
    map.finish();
    add(item, n, peer);
  }

  void refuse_host(const Value& at, const std::string& name) {
    std::vector<std::string> known;
    for (const HostSpec& host : fleet_.hosts) known.push_back(host.name);
    const std::string guess = nearest(name, known);
    source_.error(
        at,
        fmt::format("host `{}` is not listed under `hosts`", printable(name, 80)),
        guess.empty()
            ? fmt::format("there are {}", printable(fmt::format("{}", fmt::join(known, ", ")), 300))
            : fmt::format("did you mean `{}`?", guess));
  }

  /// Reads peers, as many on each host of the file, or on this machine alone.
  void read_each_host(const Value& value, PeerSpec peer) {
    MapReader map(source_, &value, "peers");
    std::uint32_t n = 1;
    const Value* per_host = map.take("per_host");
    if (per_host == nullptr)
      source_.error(value, "missing key `per_host`", "write `peers: { per_host: 2 }`, or a number");
    set(per_host, n, count("peers.per_host"));
    read_kind(map, peer);
    map.finish();
    const bool others = fleet_.hosts.size() > 1;
    for (const HostSpec& host : fleet_.hosts) {
      if (others && host.name == "localhost") continue;
      peer.host = host.name;
      add(value, n, peer);
    }
  }

  /// Reads what the peers of a group have in common.
  void read_kind(MapReader& map, PeerSpec& peer) {
    set(map.take("device"), peer.device, [this](const Value& v) {
      return read_device(source_, v);
    });
    set(map.take("precision"), peer.precision, [this](const Value& v) {
      return read_precision(source_, v);
    });
    set(map.take("threads"), peer.threads, count("peers.threads"));
    const Value* batch = map.take("batch");
    if (batch != nullptr && peer.batch == 0)
      source_.error(*batch,
                    "a group's `batch` and `train.batch: auto` exclude each other",
                    "remove one of the two");
    set(batch, peer.batch, count("peers.batch"));
    set(map.take("speed"), peer.speed, number("peers.speed"));
  }

  void add(const Value& item, std::uint32_t n, const PeerSpec& peer) {
    if (n > most_peers - fleet_.peers.size()) {  // before they take memory
      source_.error(item, fmt::format("more than {} peers in all", most_peers));
      return;
    }
    fleet_.peers.insert(fleet_.peers.end(), n, peer);
  }

  Fleet& fleet_;
};

}  // namespace

void read_peers(Source& source, const Value* value, const PeerSpec& usual, Fleet& fleet) {
  PeersReader(source, fleet).read(value, usual);
}

std::optional<std::string> read_device(Source& source, const Value& value) {
  const auto word = read_word(source, value);
  if (!word || *word == "auto" || *word == "cpu" || *word == "cuda") return word;
  if (word->starts_with("cuda:")) {
    unsigned number = 0;
    const char* end = word->data() + word->size();
    const auto read = std::from_chars(word->data() + 5, end, number);
    if (read.ec == std::errc() && read.ptr == end && number < 1024) return word;
  }
  source.error(value,
               fmt::format("`{}` is not a device", *word),
               "write `cpu`, `cuda`, `cuda:1` for the second one, or `auto`");
  return std::nullopt;
}

std::optional<Precision> read_precision(Source& source, const Value& value) {
  const auto word = read_word(source, value);
  if (!word) return std::nullopt;
  if (*word == "fp32") return Precision::fp32;
  if (*word == "tf32") return Precision::tf32;
  if (*word == "bf16") return Precision::bf16;
  source.error(
      value, fmt::format("`{}` is not a precision", *word), "write `fp32`, `tf32` or `bf16`");
  return std::nullopt;
}

}  // namespace gv
