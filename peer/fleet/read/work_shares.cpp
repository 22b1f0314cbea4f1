#include "peer/fleet/read/work_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "peer/fleet/read/sections.h"

namespace gv {

std::optional<std::vector<std::uint32_t>> batch_shares(std::span<const double> speeds,
                                                       std::uint32_t mean) {
  const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const std::uint64_t total = std::uint64_t{mean} * speeds.size();
  std::vector<std::uint32_t> batches;
  std::vector<double> remainders;
  std::uint64_t left = total;
  for (const double speed : speeds) {
    const double exact = speed / sum * static_cast<double>(total);
    batches.push_back(static_cast<std::uint32_t>(exact));
    remainders.push_back(exact - std::floor(exact));
    left -= batches.back();
  }
  std::vector<std::size_t> order(speeds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return remainders[i]; });
  for (std::size_t k = 0; k < left; ++k) ++batches[order[k % order.size()]];
  if (std::ranges::min(batches) == 0) return std::nullopt;
  return batches;
}

double largest_share(std::span<const double> speeds, std::uint32_t mean) {
  const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const double total = static_cast<double>(mean) * static_cast<double>(speeds.size());
  return std::ranges::max(speeds) / sum * total;
}

double noise_of_unequal(std::span<const std::uint32_t> batches) {
  double sum = 0;
  double inverse = 0;
  for (const std::uint32_t batch : batches) {
    sum += batch;
    inverse += 1.0 / batch;
  }
  const auto n = static_cast<double>(batches.size());
  return sum / n * inverse / n;
}

std::vector<double> gradient_rates(std::span<const PeerSpec> peers) {
  std::vector<double> rates;
  for (const PeerSpec& peer : peers) rates.push_back(peer.speed / peer.batch);
  return rates;
}

std::optional<std::uint32_t> least_mean_steps(std::span<const double> rates) {
  constexpr double rounding = 1e-9;  // the mean of 0.1, 0.1, 0.1 over 0.1 may exceed 1 slightly
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  const double mean = sum / static_cast<double>(rates.size()) / std::ranges::min(rates);
  const double least = std::ceil(mean * (1 - rounding));
  if (!(least <= most_local_steps)) return std::nullopt;
  return static_cast<std::uint32_t>(std::max(1.0, least));
}

namespace {

bool is_number(const Value& value) {
  return value.kind == Value::Kind::scalar && value.text != "auto";
}

std::vector<double> speeds_of(const Fleet& fleet) {
  std::vector<double> speeds;
  for (const PeerSpec& peer : fleet.peers) speeds.push_back(peer.speed);
  return speeds;
}

}  // namespace

void WorkReader::read_auto(const Value* value, const std::string& path, std::uint32_t& mean) {
  MapReader map(source_, value, path, true);
  std::string kind;
  set(map.take("kind"), kind, choice(std::vector<std::string>(1, "auto")));
  map.read("mean", mean);
  map.finish();
}

void WorkReader::read_batch(const Value* value, PeerSpec& usual) {
  if (value == nullptr) return;
  if (is_number(*value)) return set(value, usual.batch, count("train.batch"));
  mean_batch_ = usual.batch;
  read_auto(value, "train.batch", mean_batch_);
  auto_batch_ = value;
  usual.batch = 0;
}

void WorkReader::read_local_steps(const Value* value, Fleet& fleet) {
  if (value == nullptr) return;
  if (is_number(*value)) return set(value, fleet.local_steps, count("train.local_steps"));
  read_auto(value, "train.local_steps", mean_steps_);
  auto_steps_ = value;
}

void WorkReader::share(Fleet& fleet, std::vector<std::string>* notices) {
  if (fleet.peers.empty()) return;
  if (auto_batch_ != nullptr) share_batches(fleet, notices);
  const bool batches =
      std::ranges::all_of(fleet.peers, [](const PeerSpec& p) { return p.batch > 0; });
  if (auto_steps_ != nullptr && batches) share_local_steps(fleet, notices);
}

bool WorkReader::bearable(const Value& at,
                          std::span<const double> speeds,
                          std::uint32_t mean,
                          std::string_view what) {
  constexpr double most = 1e8;
  const double largest = largest_share(speeds, mean);
  if (largest <= most) return true;
  source_.error(at,
                fmt::format("the fastest peer would get {:.3g} {}, and the maximum is {:.3g}",
                            largest, what, most),
                "lower `mean`, or check the speeds: `grapevine bench speeds` measures them");
  return false;
}

void WorkReader::share_batches(Fleet& fleet, std::vector<std::string>* notices) {
  const std::vector<double> speeds = speeds_of(fleet);
  const auto [least, most] = std::ranges::minmax(speeds);
  if (!bearable(*auto_batch_, speeds, mean_batch_, "samples in a batch")) return;
  const auto batches = batch_shares(speeds, mean_batch_);
  if (!batches) {
    return source_.error(
        *auto_batch_,
        fmt::format("batches of {} on average leave the slowest peer (speed {} of {}) without a "
                    "sample",
                    mean_batch_, least, most),
        "raise `mean`, as in `batch: { kind: auto, mean: 256 }`, or leave that peer out");
  }
  for (PeerId i = 0; i < fleet.size(); ++i) fleet.peers[i].batch = (*batches)[i];
  if (least == most && notices != nullptr) {
    notices->emplace_back(
        "train.batch is auto and all peers have the same speed: their batches are equal; "
        "`grapevine bench device` measures the speeds of this machine's devices");
  }
}

void WorkReader::share_local_steps(Fleet& fleet, std::vector<std::string>* notices) {
  const std::vector<double> rates = gradient_rates(fleet.peers);
  const std::optional<std::uint32_t> least = least_mean_steps(rates);
  if (!least) {
    return source_.error(
        *auto_steps_,
        fmt::format(
            "the peers would take more than {} steps on average for each step of the slowest peer",
            most_local_steps),
        "leave that peer out, or check the speeds: `grapevine bench speeds` measures them");
  }
  const std::uint32_t mean = mean_steps_ == 0 ? *least : mean_steps_;
  if (!bearable(*auto_steps_, rates, mean, "local steps")) return;
  const auto steps = batch_shares(rates, mean);
  if (!steps) {
    return source_.error(
        *auto_steps_,
        fmt::format("with `mean: {}` the slowest peer would take no local step", mean),
        fmt::format("write `local_steps: {{ kind: auto, mean: {} }}` or more, or leave that peer "
                    "out",
                    *least));
  }
  fleet.local_steps = mean;
  const bool alike = std::ranges::all_of(*steps, [&](std::uint32_t own) { return own == mean; });
  if (!alike) fleet.own_steps = *steps;
  if (alike && notices != nullptr) {
    notices->push_back(fmt::format(
        "train.local_steps is auto and all peers are about equally fast: {} step{} each; "
        "`grapevine bench speeds` measures the speeds",
        mean, mean == 1 ? "" : "s"));
  }
}

}  // namespace gv
