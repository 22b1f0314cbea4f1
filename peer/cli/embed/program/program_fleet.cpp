#include "peer/cli/embed/program/program_fleet.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "optim/data/partition.h"
#include "peer/cli/embed/calls/fault.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/fleet/data/data_reader.h"
#include "peer/fleet/net_address.h"
#include "peer/launch/manual/address_pattern.h"
#include "peer/launch/manual/identity.h"
#include "peer/wire/socket/named_socket.h"

namespace gv::embed {
namespace {

constexpr std::int32_t most_classes = 256;  ///< maximum of a Dataset

/// Runs f; its errors count as errors of the fleet file.
template <class F>
auto about_fleet(F f) {
  try {
    return f();
  } catch (const Fault&) {
    throw;
  } catch (const std::exception& e) {
    throw Fault(GV_E_FLEET, e.what());
  }
}

/// Returns a fleet of one peer that trains until it is stopped.
Fleet fleet_of_one() {
  Fleet fleet;
  fleet.path = "gv_open";
  fleet.name = "alone";
  fleet.peers.assign(1, {});
  fleet.data.kind = program_data().kind;
  fleet.model.kind = "program";
  fleet.algorithm = "isolated";
  return fleet;
}

Fleet read(const OpenWords& words) {
  if (words.is_alone()) return fleet_of_one();
  if (!words.text.empty()) return read_fleet_text(words.text);
  return read_fleet(words.fleet, words.sets, nullptr);
}

PeerId own_id(const Fleet& fleet, const OpenWords& words) {
  std::optional<PeerId> id = words.id;
  if (!id && words.is_alone()) id = 0;
  if (!id && words.task != ProgramTask::peer) id = 0;
  if (!id)
    if (const std::optional<EngineIdentity> engine = engine_identity()) id = engine->id;
  if (!id)
    throw Fault(GV_E_USE,
                fmt::format("which peer of {}? give `id`, or start the program by `grapevine run`; "
                            "srun, mpirun and indexed jobs of Kubernetes set it themselves",
                            fleet.path));
  if (*id < fleet.trainers()) return *id;
  throw Fault(GV_E_USE, fmt::format("`id` is {}, and the peers of {} that train are 0 .. {}", *id,
                                    fleet.path, fleet.trainers() - 1));
}

/// Returns a model just large enough for each server to have a part.
ProgramModel smallest_model(const Fleet& fleet) {
  const AlgorithmRow* const row = find_algorithm(fleet.algorithm, fleet.order);
  const PeerId servers =
      row != nullptr && row->servers != nullptr ? row->servers(fleet.settings) : 0;
  ProgramModel model;
  model.parameters.push_back({.name = "x", .shape = {servers + 1}});
  return model;
}

Dataset labelled(std::span<const std::int32_t> labels, std::size_t n) {
  Dataset data;
  data.rows = static_cast<std::uint32_t>(n);
  if (labels.empty()) return data;
  const auto [least, most] = std::ranges::minmax(labels);
  if (least < 0 || most >= most_classes)
    throw Fault(GV_E_USE, fmt::format("gv_rows: labels of {} .. {}: 0 .. {} are allowed", least,
                                      most, most_classes - 1));
  data.classes = static_cast<std::uint32_t>(most) + 1;
  data.labels.assign(labels.begin(), labels.end());
  return data;
}

}  // namespace

ProgramFleet open_fleet(const OpenWords& words) {
  return about_fleet([&] {
    ProgramFleet opened;
    opened.fleet = read(words);
    if (!words.start.empty()) opened.fleet.start = words.start;
    opened.id = own_id(opened.fleet, words);
    opened.outline = assemble(opened, smallest_model(opened.fleet));
    return opened;
  });
}

std::unique_ptr<const Assembly> assemble(const ProgramFleet& of, ProgramModel model) {
  return about_fleet(
      [&] { return std::make_unique<const Assembly>(of.fleet, of.id, std::move(model)); });
}

std::vector<std::uint32_t> rows_of(const ProgramFleet& of,
                                   std::span<const std::int32_t> labels,
                                   std::size_t n) {
  const PartitionSpec& spec = of.fleet.data.partition;
  if (n == 0 || n > std::numeric_limits<std::uint32_t>::max())
    throw Fault(GV_E_USE, fmt::format("gv_rows: {} samples: 1 to 2^32 - 1 are allowed", n));
  const bool by_class = spec.kind != "iid" && spec.kind != "quantity";
  if (by_class && labels.empty())
    throw Fault(
        GV_E_USE,
        fmt::format("gv_rows: data.partition `{}` divides by classes: give labels", spec.kind));
  return about_fleet([&] {
    const Dataset data = labelled(by_class ? labels : std::span<const std::int32_t>{}, n);
    return partition(data, of.fleet.trainers(), spec,
                     Rng(of.fleet.seed).derive("partition"))[of.id];
  });
}

std::pair<std::string, std::uint16_t> listens_at(const ProgramFleet& of, const OpenWords& words) {
  if (!words.listen_address.empty()) return {words.listen_address, words.listen_port};
  if (!words.meet.empty()) return {std::string(any_address), 0};
  if (!words.at.empty()) {
    const AddressPattern pattern = parse_address_pattern(words.at);
    return {pattern.listen_host(), pattern.addresses(of.fleet.size()).at(of.id).port};
  }
  for (const PeerAddress& address : manual_addresses(of.fleet))
    if (address.peer == of.id) return {address.host, address.port};
  return {loopback_host(), 0};
}

}  // namespace gv::embed
