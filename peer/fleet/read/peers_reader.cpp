#include <algorithm>
#include <cctype>
#include <functional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/spec/nearest.h"
#include "graph/spec/parameters.h"
#include "optim/printable.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/net_address.h"
#include "peer/fleet/read/sections.h"

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
    const Value* const host = map.read("host", peer.host);
    if (host != nullptr &&
        std::ranges::find(fleet_.hosts, peer.host, &HostSpec::name) == fleet_.hosts.end())
      refuse_host(*host, peer.host);
    read_kind(map, peer);
    map.read("count", n);
    map.finish();
    add(item, n, peer);
  }

  void refuse_host(const Value& at, const std::string& name) {
    std::vector<std::string> known;
    for (const HostSpec& host : fleet_.hosts) known.push_back(host.name);
    const std::string guess = nearest(name, known);
    source_.error(
        at, fmt::format("host `{}` is not listed under `hosts`", printable(name, 80)),
        did_you_mean(guess,
                     fmt::format("there are {}",
                                 printable(fmt::format("{}", fmt::join(known, ", ")), 300))));
  }

  /// Reads the same number of peers for each host of the file, or for this machine alone.
  void read_each_host(const Value& value, PeerSpec peer) {
    MapReader map(source_, &value, "peers");
    std::uint32_t n = 1;
    if (map.read("per_host", n) == nullptr)
      source_.error(value, "missing key `per_host`", "write `peers: { per_host: 2 }`, or a number");
    read_kind(map, peer);
    map.finish();
    const bool others = fleet_.hosts.size() > 1;
    for (const HostSpec& host : fleet_.hosts) {
      if (others && host.name == "localhost") continue;
      peer.host = host.name;
      add(value, n, peer);
    }
  }

  /// Reads the common properties of a group's peers.
  void read_kind(MapReader& map, PeerSpec& peer) {
    set(map.take("device"), peer.device,
        [this](const Value& v) { return read_device(source_, v); });
    set(map.take("precision"), peer.precision,
        [this](const Value& v) { return read_precision(source_, v); });
    map.read("threads", peer.threads);
    const Value* batch = map.take("batch");
    if (batch != nullptr && peer.batch == 0)
      source_.error(*batch, "a group's `batch` and `train.batch: auto` exclude each other",
                    "remove one of the two");
    set(batch, peer.batch, count("peers.batch"));
    map.read("speed", peer.speed);
  }

  void add(const Value& item, std::uint32_t n, const PeerSpec& peer) {
    if (n > most_peers - fleet_.peers.size()) {  // checked before memory is allocated
      source_.error(item, fmt::format("more than {} peers in all", most_peers));
      return;
    }
    fleet_.peers.insert(fleet_.peers.end(), n, peer);
  }

  Fleet& fleet_;
};

class HostsReader : Readers {
 public:
  explicit HostsReader(Source& source) : Readers(source) {}

  std::vector<HostSpec> read(const Value* value) {
    std::vector<HostSpec> hosts{{.name = "localhost", .address = "127.0.0.1", .port = 0}};
    if (value == nullptr) return hosts;
    if (value->kind != Value::Kind::map) {
      source_.error(*value, "expected a name and its address for each host");
      return hosts;
    }
    for (const Value::Entry& entry : value->entries) {
      HostSpec host{.name = entry.key};
      MapReader map(source_, &entry.value, "hosts." + entry.key);
      set(map.take("address"), host.address, address());
      set(map.take("port"), host.port, count("hosts.NAME.port"));
      set(map.take("ssh"), host.ssh, shell_word());
      map.read("interface", host.interface);
      set(map.take("binary"), host.binary, shell_word());
      check_absolute(map.read("data", host.data), host.data,
                     "write its path on that machine, such as `data: /srv/flowers`");
      check_absolute(map.read("folder", host.folder), host.folder,
                     "write the program's folder on that machine, such as `folder: /srv/vision`");
      map.finish();
      if (host.name == "localhost" && host.address.empty()) host.address = "127.0.0.1";
      if (host.name == "localhost")
        hosts[0] = host;
      else
        hosts.push_back(host);
    }
    return hosts;
  }

 private:
  void check_absolute(const Value* value, const std::string& path, const char* help) {
    if (value != nullptr && !path.starts_with('/'))
      source_.error(*value, fmt::format("`{}` is not an absolute path", path), help);
  }

  /// Accepts `[fe80::1%eth0]`, an address in brackets, though YAML takes it for a list.
  std::function<std::optional<std::string>(const Value&)> address() {
    return [this](const Value& value) -> std::optional<std::string> {
      const bool in_brackets = value.kind == Value::Kind::sequence && value.items.size() == 1 &&
                               value.items[0].kind == Value::Kind::scalar;
      std::optional<std::string> text = read_word(source_, in_brackets ? value.items[0] : value);
      if (!text) return text;
      text = without_brackets(*text);
      const std::string wrong = host_objection(*text);
      if (wrong.empty()) return text;
      source_.error(
          value, wrong,
          "write a name, an IPv4 or an IPv6 address, such as `address: fe80::1%eth0`; its "
          "port is the key `port`");
      return std::nullopt;
    };
  }

  /// Reads a word that is safe in an ssh command.
  std::function<std::optional<std::string>(const Value&)> shell_word() {
    return [this](const Value& value) -> std::optional<std::string> {
      std::optional<std::string> text = read_word(source_, value);
      const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view("_-./@:~%+").find(c) != std::string_view::npos;
      };
      if (!text || (!text->empty() && text->front() != '-' && std::ranges::all_of(*text, plain)))
        return text;
      source_.error(
          value, fmt::format("`{}` cannot be used in a command", *text),
          "write letters, digits and any of _ - . / @ : ~ % +, and no - at its beginning");
      return std::nullopt;
    };
  }
};

bool lives_on(const Fleet& fleet, const HostSpec& host) {
  return std::ranges::count(fleet.peers, host.name, &PeerSpec::host) > 0;
}

}  // namespace

void read_peers(Source& source, const Value* value, const PeerSpec& usual, Fleet& fleet) {
  PeersReader(source, fleet).read(value, usual);
}

std::optional<std::string> read_device(Source& source, const Value& value) {
  const auto word = read_word(source, value);
  if (!word || *word == "auto" || *word == "cpu" || *word == "cuda") return word;
  if (word->starts_with("cuda:")) {
    const auto number = as_number<unsigned>(word->substr(5));
    if (number && *number < 1024) return word;
  }
  source.error(value, fmt::format("`{}` is not a device", *word),
               "write `cpu`, `cuda`, `cuda:1` for the second one, or `auto`");
  return std::nullopt;
}

std::optional<Precision> read_precision(Source& source, const Value& value) {
  const auto word = read_word(source, value);
  if (!word) return std::nullopt;
  if (*word == "fp32") return Precision::fp32;
  if (*word == "tf32") return Precision::tf32;
  if (*word == "bf16") return Precision::bf16;
  source.error(value, fmt::format("`{}` is not a precision", *word),
               "write `fp32`, `tf32` or `bf16`");
  return std::nullopt;
}

std::vector<HostSpec> read_hosts(Source& source, const Value* value) {
  return HostsReader(source).read(value);
}

void refuse_own_addresses(Source& source, const Value* value, const Fleet& fleet) {
  const bool several = std::ranges::any_of(fleet.hosts, [&](const HostSpec& host) {
    return !is_loopback(host.address) && lives_on(fleet, host);
  });
  if (!several) return;
  for (const HostSpec& host : fleet.hosts) {
    const Value::Entry* const address =
        value == nullptr ? nullptr : value->find(host.name, "address");
    if (host.name == "localhost" || address == nullptr || !is_loopback(host.address) ||
        !lives_on(fleet, host))
      continue;
    source.error(address->value,
                 fmt::format("{}'s address is {}, which only {} itself can reach", host.name,
                             host.address, host.name),
                 "does /etc/hosts map its name to that? Leave `address` out, and `run` finds one, "
                 "or give that of its network card; the machine that `run` runs on is `localhost`");
  }
}

std::string place_of_address(const Fleet& fleet, const std::string& host) {
  Source source(fleet.path);
  const Value root = source.parse_file();
  const Value::Entry* const hosts = root.find("hosts");
  const Value::Entry* const own = hosts == nullptr ? nullptr : hosts->value.find(host);
  if (own == nullptr) return fleet.path;
  const Value::Entry* const address = own->value.find("address");
  const Place& at = address == nullptr ? own->place : address->value.place;
  return fmt::format("{}:{}:{}", fleet.path, at.line, at.column);
}

}  // namespace gv
