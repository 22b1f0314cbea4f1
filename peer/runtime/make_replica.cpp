#include "peer/runtime/make_replica.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "gpu/cuda_replica.h"
#include "optim/data/class_weights.h"
#include "optim/train/host_replica.h"

namespace gv {

std::string to_string(const Device& device) {
  return device.cuda ? fmt::format("cuda:{}", device.number) : "cpu";
}

Device choose_device(const std::string& word) {
  return choose_device(word, word != "cpu" && cuda_available());
}

Device choose_device(const std::string& word, bool cuda_here) {
  if (word == "cpu" || (word == "auto" && !cuda_here)) return {};
  if (!cuda_here) {
    const std::string problem = cuda_status().problem;
    throw std::runtime_error(
        fmt::format("device `{}`: {}\nhelp:  write `device: cpu` or `auto`, or use a machine with "
                    "a GPU",
                    word,
                    problem.empty() ? "no CUDA device answers" : problem));
  }
  const std::size_t colon = word.find(':');
  return {.cuda = true,
          .number = colon == std::string::npos ? 0 : std::stoi(word.substr(colon + 1))};
}

std::vector<std::string> check_devices(const Fleet& fleet, const std::vector<PeerId>& peers) {
  std::size_t fallen_back = 0;
  for (const PeerId i : peers) {
    const std::string& word = fleet.peers.at(i).device;
    if (word == "cpu") continue;
    try {
      if (choose_device(word) == Device{}) ++fallen_back;
    } catch (const std::runtime_error& e) {
      throw std::runtime_error(fmt::format("{}: peer {}: {}", fleet.path, i, e.what()));
    }
  }
  if (fallen_back == 0) return {};
  return {fmt::format("device auto: no CUDA here, {} of {} peers train{} on the CPU",
                      fallen_back,
                      fleet.size(),
                      fallen_back == 1 ? "s" : "")};
}

namespace {

std::unique_ptr<Replica> fresh_replica(const Device& device, const ReplicaParts& parts) {
  if (!device.cuda)
    return make_host_replica(parts.objective(), parts.optimizer, parts.batch, parts.init);
  if (!cuda_trains(parts.model))
    throw std::invalid_argument(fmt::format(
        "model `{}` is trained on the CPU only: use device: cpu or auto", parts.model.kind));
  if (!class_weights(*parts.share.train).empty())
    throw std::invalid_argument(
        "`train.class_weights` are learnt on the CPU only: use device: cpu");
  return make_cuda_replica(make_network(parts.model, *parts.share.train),
                           parts.share,
                           parts.optimizer,
                           parts.batch,
                           parts.init,
                           device.number,
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
