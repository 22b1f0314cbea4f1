#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "gpu/cuda_replica.h"
#include "optim/check.h"
#include "optim/data/data_facts.h"
#include "optim/machine/workers.h"
#include "optim/replica/host_replica.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

std::string to_string(const Device& device) {
  return device.cuda ? fmt::format("cuda:{}", device.number) : "cpu";
}

namespace {

bool leaves_the_number_open(const PeerSpec& peer) {
  return peer.device == "auto" || peer.device == "cuda";
}

}  // namespace

AmongPeers among_peers(const Fleet& fleet, PeerId i) {
  const std::string& host = fleet.peers.at(i).host;
  AmongPeers among{.place = 0, .peers = 0};
  for (PeerId j = 0; j < fleet.peers.size(); ++j) {
    if (fleet.peers[j].host != host) continue;
    ++among.peers;
    if (j < i && leaves_the_number_open(fleet.peers[j])) ++among.place;
  }
  return among;
}

Device device_of(const Fleet& fleet, PeerId i) {
  const std::string& word = fleet.peers.at(i).device;
  if (word == "cpu") return {};
  return choose_device(word, among_peers(fleet, i),
                       {.devices = cuda_status().devices.size(), .cores = usable_cores().count()});
}

Device choose_device(const std::string& word, const AmongPeers& among, const MachineParts& here) {
  if (word == "cpu" || (word == "auto" && here.devices == 0)) return {};
  if (here.devices == 0) {
    const std::string problem = cuda_status().problem;
    throw std::runtime_error(
        fmt::format("device `{}`: {}\nhelp:  write `device: cpu` or `auto`, or use a machine with "
                    "a GPU",
                    word, problem.empty() ? "no CUDA device answers" : problem));
  }
  const std::size_t colon = word.find(':');
  return {.cuda = true,
          .number = colon == std::string::npos ? static_cast<int>(among.place % here.devices)
                                               : std::stoi(word.substr(colon + 1)),
          .sleeps = 2 * among.peers > here.cores};
}

std::vector<std::string> check_devices(const Fleet& fleet, const std::vector<PeerId>& peers) {
  std::size_t fallen_back = 0;
  for (const PeerId i : peers) {
    if (fleet.peers.at(i).device == "cpu") continue;
    try {
      if (!device_of(fleet, i).cuda) ++fallen_back;
    } catch (const std::runtime_error& e) {
      throw std::runtime_error(fmt::format("{}: peer {}: {}", fleet.path, i, e.what()));
    }
  }
  if (fallen_back == 0) return {};
  return {fmt::format("device auto: no CUDA here, {} of {} peers train{} on the CPU", fallen_back,
                      fleet.size(), fallen_back == 1 ? "s" : "")};
}

namespace {

std::unique_ptr<Replica> fresh_replica(const Device& device, const ReplicaParts& parts) {
  if (!device.cuda) {
    const bool muon = parts.optimizer.kind == "muon";
    return make_host_replica(
        parts.objective(), parts.optimizer, parts.batch, parts.init,
        muon ? hidden_matrices(parts.model, *parts.share.train) : std::vector<HiddenMatrix>{});
  }
  GV_CHECK(cuda_trains(parts.model) && class_weights(*parts.share.train).empty(),
           "stays_on_the_cpu has kept what no device trains from it");
  return make_cuda_replica(make_network(parts.model, *parts.share.train), parts.share,
                           parts.optimizer, parts.batch, parts.init, {device.number, device.sleeps},
                           parts.precision);
}

}  // namespace

std::unique_ptr<Replica> make_replica(const Device& device, const ReplicaParts& parts) {
  std::unique_ptr<Replica> replica = fresh_replica(device, parts);
  if (parts.start.empty()) return replica;
  Buffer x(parts.start.size() * sizeof(float));
  std::ranges::copy(parts.start, x.floats().begin());
  replica->load(Vector::x, {0, parts.start.size()}, x);
  return replica;
}

}  // namespace gv
