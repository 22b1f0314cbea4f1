#include "peer/fleet/hosts_reader.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "peer/fleet/file/readers.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/net_address.h"

namespace gv {
namespace {

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
      set(map.take("interface"), host.interface, word());
      set(map.take("binary"), host.binary, shell_word());
      const Value* const data = map.take("data");
      set(data, host.data, word());
      if (data != nullptr && !host.data.starts_with('/'))
        source_.error(*data,
                      fmt::format("`{}` is no folder by its whole path", host.data),
                      "write where it lies on that machine, such as `data: /srv/flowers`");
      const Value* const folder = map.take("folder");
      set(folder, host.folder, word());
      if (folder != nullptr && !host.folder.starts_with('/'))
        source_.error(
            *folder,
            fmt::format("`{}` is no folder by its whole path", host.folder),
            "write where the program runs on that machine, such as `folder: /srv/vision`");
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
  /// `[fe80::1%eth0]` is an address in brackets here, though YAML takes it for a list.
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
          value,
          wrong,
          "write a name, an IPv4 or an IPv6 address, such as `address: fe80::1%eth0`; its "
          "port is the key `port`");
      return std::nullopt;
    };
  }

  /// It stands in a command of ssh.
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
          value,
          fmt::format("`{}` cannot stand in a command", *text),
          "write letters, digits and any of _ - . / @ : ~ % +, and no - at its beginning");
      return std::nullopt;
    };
  }
};

bool lives_on(const Fleet& fleet, const HostSpec& host) {
  return std::ranges::count(fleet.peers, host.name, &PeerSpec::host) > 0;
}

/// Null: the file does not say it.
const Value::Entry* address_in(const Value* hosts, const std::string& name) {
  const Value::Entry* const host = hosts == nullptr ? nullptr : hosts->find(name);
  return host == nullptr ? nullptr : host->value.find("address");
}

}  // namespace

std::vector<HostSpec> read_hosts(Source& source, const Value* value) {
  return HostsReader(source).read(value);
}

void refuse_own_addresses(Source& source, const Value* value, const Fleet& fleet) {
  const bool several = std::ranges::any_of(fleet.hosts, [&](const HostSpec& host) {
    return !is_loopback(host.address) && lives_on(fleet, host);
  });
  if (!several) return;
  for (const HostSpec& host : fleet.hosts) {
    const Value::Entry* const address = address_in(value, host.name);
    if (host.name == "localhost" || address == nullptr || !is_loopback(host.address) ||
        !lives_on(fleet, host))
      continue;
    source.error(address->value,
                 fmt::format("{}'s address is {}, which only {} itself can reach",
                             host.name,
                             host.address,
                             host.name),
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
