#include "peer/launch/agent/meeting.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/fleet/json/json.h"
#include "peer/fleet/net_address.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/wire/tcp/neighbor_clock.h"

namespace gv {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::size_t most_bytes = 65536;

/// Two processes with the same one have the same loopback.
std::string this_machine(PeerId id) {
  const std::uint64_t machine = machine_id();
  if (machine == 0) return fmt::format("that of peer {}", id);
  std::error_code unknown;
  return fmt::format(
      "{:016x} {}", machine, fs::read_symlink("/proc/self/ns/net", unknown).string());
}

/// "" when there is none.
std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(most_bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

/// A peer's file may hold anything.
std::vector<std::string> texts_of(const JsonValue& addresses) {
  std::vector<std::string> texts;
  for (const JsonValue& each : addresses.items)
    if (host_objection(each.text).empty()) texts.push_back(each.text);
  return texts;
}

}  // namespace

Meeting::Meeting(const Assembly& fleet, PeerId id, const std::string& folder)
    : id_(id),
      folder_(folder + "/" + fleet.fleet.digest),
      neighbors_(links_of(fleet.plan(id))),
      own_(interface_addresses()),
      machine_(this_machine(id)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw std::runtime_error(fmt::format("--meet {}: {}", folder, error.message()));
}

std::string Meeting::file_of(PeerId id) const {
  return fmt::format("{}/{}.json", folder_, id);
}

void Meeting::announce(std::uint16_t port) {
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

/// Treats what cannot be read as not there yet: another machine may be writing it.
std::vector<PeerAddress> Meeting::changed() {
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

std::vector<PeerAddress> Meeting::wait(Time patience,
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
                                           fmt::join(list, ", "),
                                           folder_,
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
