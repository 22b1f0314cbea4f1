#include "peer/launch/agent/facts/interfaces.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include "peer/fleet/json/json.h"
#include "peer/fleet/net_address.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/wire/tcp/timing.h"

namespace gv {
namespace {

/// Returns the bytes of a numeric address, 4 or 16, or none if it is not numeric.
std::vector<std::uint8_t> bytes_of(const std::string& address) {
  std::vector<std::uint8_t> bytes(4);
  if (::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return bytes;
  bytes.resize(16);
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) return bytes;
  return {};
}

template <typename Address>
int bits_set(const Address& mask) {
  std::array<std::uint8_t, sizeof mask> bytes{};
  std::memcpy(bytes.data(), &mask, sizeof mask);
  int bits = 0;
  for (const std::uint8_t byte : bytes) bits += std::popcount(byte);
  return bits;
}

/// Returns an empty address if other machines cannot use it.
InterfaceAddress usable(const ifaddrs& entry) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  InterfaceAddress address{.interface = entry.ifa_name, .address = ""};
  if (entry.ifa_addr->sa_family == AF_INET) {
    sockaddr_in own{}, mask{};
    std::memcpy(&own, entry.ifa_addr, sizeof own);
    if (entry.ifa_netmask != nullptr) std::memcpy(&mask, entry.ifa_netmask, sizeof mask);
    constexpr std::uint32_t link_local = 0xA9FE;  // 169.254.0.0/16
    if (ntohl(own.sin_addr.s_addr) >> 16 == link_local) return address;
    address.prefix = bits_set(mask.sin_addr);
    address.address = ::inet_ntop(AF_INET, &own.sin_addr, text.data(), text.size());
  } else if (entry.ifa_addr->sa_family == AF_INET6) {
    sockaddr_in6 own{}, mask{};
    std::memcpy(&own, entry.ifa_addr, sizeof own);
    if (entry.ifa_netmask != nullptr) std::memcpy(&mask, entry.ifa_netmask, sizeof mask);
    address.prefix = bits_set(mask.sin6_addr);
    address.address = ::inet_ntop(AF_INET6, &own.sin6_addr, text.data(), text.size());
    if (IN6_IS_ADDR_LINKLOCAL(&own.sin6_addr)) address.address += "%" + address.interface;
  }
  return address;
}

bool is_link_local(const std::string& address) {
  return address.find('%') != std::string::npos;
}

/// Orders addresses: IPv4, IPv6, link-local IPv6.
int rank_of(const InterfaceAddress& address) {
  if (is_link_local(address.address)) return 2;
  return address.address.find(':') != std::string::npos ? 1 : 0;
}

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::size_t most_bytes = 65536;

/// Returns an identity of this machine: two processes with the same one share their loopback.
std::string this_machine(PeerId id) {
  const std::uint64_t machine = machine_id();
  if (machine == 0) return fmt::format("that of peer {}", id);
  std::error_code unknown;
  return fmt::format("{:016x} {}", machine,
                     fs::read_symlink("/proc/self/ns/net", unknown).string());
}

/// Returns "" if there is no such file.
std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(most_bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

/// Checks each address, because a peer's file may hold anything.
std::vector<std::string> texts_of(const JsonValue& addresses) {
  std::vector<std::string> texts;
  for (const JsonValue& each : addresses.items)
    if (host_objection(each.text).empty()) texts.push_back(each.text);
  return texts;
}

}  // namespace

bool leads_nowhere(const std::string& interface) {
  constexpr std::array<std::string_view, 9> virtual_ones = {
      "lo", "docker", "br-", "veth", "virbr", "lxc", "lxd", "cni", "flannel"};
  return interface == "lo" ||
         std::any_of(virtual_ones.begin() + 1, virtual_ones.end(),
                     [&](std::string_view name) { return interface.starts_with(name); });
}

std::vector<InterfaceAddress> interface_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::vector<InterfaceAddress> all;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const bool up = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0;
    if (entry->ifa_addr == nullptr || !up || leads_nowhere(entry->ifa_name)) continue;
    InterfaceAddress address = usable(*entry);
    if (!address.address.empty()) all.push_back(std::move(address));
  }
  std::ranges::stable_sort(all, {}, rank_of);
  return all;
}

std::vector<std::string> as_called_by(const std::vector<InterfaceAddress>& own,
                                      const std::vector<std::string>& theirs) {
  const auto ours = [&](const std::string& address) {
    return std::ranges::count(own, address, &InterfaceAddress::address) > 0;
  };
  std::vector<std::string> near, far, local;
  for (const std::string& address : theirs) {
    if (is_link_local(address)) {
      const std::string number = address.substr(0, address.find('%'));
      for (const InterfaceAddress& each : own)
        if (is_link_local(each.address) && !ours(number + "%" + each.interface))
          local.push_back(number + "%" + each.interface);
    } else if (!ours(address)) {
      const bool together = std::ranges::any_of(own, [&](const InterfaceAddress& each) {
        return same_network(each.address, address, each.prefix);
      });
      (together ? near : far).push_back(address);
    }
  }
  near.insert(near.end(), far.begin(), far.end());
  near.insert(near.end(), local.begin(), local.end());
  return near;
}

bool same_network(const std::string& a, const std::string& b, int prefix) {
  const std::vector<std::uint8_t> x = bytes_of(a);
  const std::vector<std::uint8_t> y = bytes_of(b);
  if (x.empty() || x.size() != y.size()) return false;
  for (int bit = 0; bit < prefix; ++bit) {
    const auto at = static_cast<std::size_t>(bit / 8);
    if (at >= x.size()) return false;
    if (((x[at] ^ y[at]) >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

Rendezvous::Rendezvous(const Assembly& fleet, PeerId id, const std::string& folder)
    : id_(id),
      folder_(folder + "/" + fleet.fleet.digest),
      neighbors_(links_of(fleet.plan(id))),
      own_(interface_addresses()),
      machine_(this_machine(id)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw std::runtime_error(fmt::format("--meet {}: {}", folder, error.message()));
}

std::string Rendezvous::file_of(PeerId id) const {
  return fmt::format("{}/{}.json", folder_, id);
}

void Rendezvous::announce(std::uint16_t port) {
  Json addresses = Json::array();
  for (const InterfaceAddress& each : own_) addresses.push_back(each.address);
  const std::string text =
      Json{{"peer", id_}, {"port", port}, {"machine", machine_}, {"addresses", addresses}}.dump();
  PosixDisk disk;
  const std::string part = file_of(id_) + ".part";
  Verdict wrong = disk.write(part, std::as_bytes(std::span(text)));
  if (wrong.empty()) wrong = disk.rename(part, file_of(id_));
  if (!wrong.empty()) throw std::runtime_error(fmt::format("--meet: {}: {}", file_of(id_), wrong));
}

/// Treats an unreadable file as not there yet: another machine may be writing it.
std::vector<PeerAddress> Rendezvous::changed() {
  std::vector<PeerAddress> news;
  for (const PeerId neighbor : neighbors_) {
    const std::string text = read_text(file_of(neighbor));
    if (text.empty() || text == known_[neighbor]) continue;
    try {
      const JsonValue json = parse_json(text, file_of(neighbor));
      PeerAddress address{
          .peer = neighbor, .host = "localhost", .port = json_integer<std::uint16_t>(json, "port")};
      if (json_text(json, "machine") != machine_) {
        address.more = as_called_by(own_, texts_of(json_member(json, "addresses")));
        if (address.more.empty()) continue;
        address.host = address.more.front();
        address.more.erase(address.more.begin());
      }
      known_[neighbor] = text;
      news.push_back(address);
    } catch (const std::exception&) {
      continue;
    }
  }
  return news;
}

std::vector<PeerAddress> Rendezvous::wait(Time patience,
                                          const std::function<void(const std::string&)>& say) {
  std::map<PeerId, PeerAddress> found;
  const auto missing = [&] {
    std::vector<PeerId> list;
    for (const PeerId neighbor : neighbors_)
      if (!found.contains(neighbor)) list.push_back(neighbor);
    return list;
  };
  const Clock::time_point until = Clock::now() + patience;
  Clock::time_point say_at = Clock::now() + std::chrono::seconds(1);
  while (true) {
    for (const PeerAddress& address : changed()) found[address.peer] = address;
    const std::vector<PeerId> list = missing();
    if (list.empty()) break;
    if (Clock::now() >= until)
      throw std::runtime_error(fmt::format("peers {} have not come to {} in {:.0f} s (--wait)",
                                           fmt::join(list, ", "), folder_,
                                           std::chrono::duration<double>(patience).count()));
    if (Clock::now() >= say_at) {
      say(fmt::format("waits for peers {} in {}", fmt::join(list, ", "), folder_));
      say_at = Clock::now() + std::chrono::seconds(10);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::vector<PeerAddress> all;
  for (const auto& [peer, address] : found) all.push_back(address);
  return all;
}

}  // namespace gv
