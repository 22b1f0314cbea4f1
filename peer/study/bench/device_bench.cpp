#include "peer/study/bench/device_bench.h"

#include <set>

#include "gpu/cuda_replica.h"
#include "optim/host/slices.h"
#include "optim/stopwatch.h"
#include "optim/train/host_replica.h"
#include "peer/runtime/assembly_checks.h"

namespace gv {
namespace {

/// The CUDA devices that answer, where the fleet's peers may train on them.
std::vector<Device> cuda_devices(const Assembly& fleet) {
  std::vector<Device> devices;
  if (!stays_on_the_cpu(fleet, 0).why.empty()) return devices;
  for (const CudaDevice& device : cuda_status().devices) devices.push_back({true, device.number});
  return devices;
}

/// Lists what is measured, without batch and figures.
std::vector<DeviceRow> targets(const Assembly& fleet) {
  std::set<int> threads;
  for (const PeerSpec& peer : fleet.fleet.peers)
    if (!peer.device.starts_with("cuda")) threads.insert(peer.threads);
  if (threads.empty()) threads.insert(1);
  std::vector<DeviceRow> rows;
  for (const int n : threads) rows.push_back({.device = {}, .threads = n});
  for (const Device& device : cuda_devices(fleet)) rows.push_back({.device = device});
  return rows;
}

}  // namespace

std::vector<DeviceRow> bench_devices(const Assembly& fleet,
                                     const std::vector<std::uint32_t>& batches,
                                     double seconds,
                                     double beside,
                                     const std::function<void(const DeviceRow&)>& on_row) {
  std::vector<DeviceRow> rows;
  for (DeviceRow row : targets(fleet)) {
    set_compute_threads(row.threads);
    for (std::size_t b = 0; b < batches.size(); ++b) {
      row.batch = batches[b];
      const std::unique_ptr<Replica> replica = fleet.replica_on(row.device, row.batch);
      const double step = median_time({.seconds = seconds, .warmup = 2}, [&] {
                            replica->gradient_and_step();
                          }).seconds;
      row.samples_per_second = row.batch / step;
      row.gflops = 1e-9 * replica->gradient_flops() / step;
      const double first =
          rows.size() < batches.size() ? row.samples_per_second : rows[b].samples_per_second;
      row.speed = row.samples_per_second / (beside > 0 ? beside : first);
      rows.push_back(row);
      on_row(row);
    }
  }
  return rows;
}

}  // namespace gv
