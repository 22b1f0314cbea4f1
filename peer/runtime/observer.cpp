#include "peer/runtime/observer.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

namespace gv {
namespace {

using Reports = std::map<PeerId, Report>;

std::size_t end_of(const Report& report) {
  return report.holds.begin + report.model->floats().size();
}

/// Where a part of somebody's begins or ends: between two of these all coordinates have the same
/// holders.
std::set<std::size_t> bounds_of(const Reports& reports) {
  std::set<std::size_t> bounds;
  for (const auto& [peer, report] : reports) {
    bounds.insert(report.holds.begin);
    bounds.insert(end_of(report));
  }
  return bounds;
}

/// The fleet's model: at each coordinate the mean of those that hold it (holding.h), summed in
/// double, in id order. Where nobody does any more, of the copies.
std::vector<float> model_of(const Reports& reports) {
  std::vector<float> model;
  std::vector<double> sum;
  for (const std::size_t end : bounds_of(reports)) {
    const std::size_t begin = model.size();
    const auto covers = [=](const auto& entry) {
      return entry.second.holds.begin <= begin && end <= end_of(entry.second);
    };
    const bool held = std::ranges::any_of(
        reports, [&](const auto& entry) { return covers(entry) && entry.second.holds.weight > 0; });
    sum.assign(end - begin, 0);
    double weight = 0;
    for (const auto& entry : reports | std::views::filter(covers)) {
      const Report& report = entry.second;
      const double w = held ? report.holds.weight : 1;
      if (w == 0) continue;
      weight += w;
      const float* const x = report.model->floats().data() + (begin - report.holds.begin);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += w * static_cast<double>(x[k]);
    }
    for (const double total : sum) model.push_back(static_cast<float>(total / weight));
  }
  return model;
}

double count_trainers(const Reports& reports) {
  return static_cast<double>(
      std::ranges::count_if(reports, [](const auto& entry) { return entry.second.trains; }));
}

std::string hex_of(const XXH128_hash_t& hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double difference = static_cast<double>(a[k]) - static_cast<double>(b[k]);
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

Observer::Observer(PeerId peers,
                   std::unique_ptr<Objective> evaluator,
                   std::function<void(const FleetRecord&)> on_record)
    : expected_(peers), evaluator_(std::move(evaluator)), on_record_(std::move(on_record)) {}

void Observer::take(Report report, Time now) {
  if (report.last) {
    finals_.insert_or_assign(report.peer, std::move(report));
  } else {
    const Round round = report.round;
    open_[round].insert_or_assign(report.peer, std::move(report));
  }
  complete(now);
}

void Observer::forget(PeerId peer) {
  if (finals_.contains(peer) || expected_ == 0) return;
  --expected_;
  for (auto& [round, reports] : open_) reports.erase(peer);
  complete(Time{0});
}

void Observer::expect(PeerId) {
  ++expected_;
}

/// Who was away passes rounds over, so a round that all have reported completes those before it.
void Observer::complete(Time now) {
  std::erase_if(open_, [](const auto& round) { return round.second.empty(); });
  const auto whole = [this](const auto& round) { return round.second.size() >= expected_; };
  const auto last = std::find_if(open_.rbegin(), open_.rend(), whole).base();
  for (auto it = open_.begin(); it != last; it = open_.erase(it)) {
    latest_ = look(it->second, now);
    if (on_record_) on_record_(*latest_);
  }
  if (finals_.size() == expected_ && expected_ > 0 && !summary_) {
    summary_ = look(finals_, now);
    if (on_record_) on_record_(*summary_);
  }
}

FleetRecord Observer::look(const Reports& reports, Time now) {
  FleetRecord record;
  const double n = count_trainers(reports);
  const std::vector<float> mean = model_of(reports);
  record.peers = static_cast<PeerId>(n);
  record.time = now;
  record.mean = evaluator_->evaluate(mean);
  Time looking{0};
  for (const auto& [peer, report] : reports) {
    record.round = std::max(record.round, report.round);
    record.sent_bytes += report.sent_bytes;
    record.model_bytes += report.model_bytes;
    record.samples += report.samples;
    record.spent += report.spent;
    looking =
        std::max(looking, report.spent[Activity::evaluate] + report.spent[Activity::checkpoint]);
    record.longest_wait[peer] = report.longest_wait;
    if (!report.trains) continue;
    record.train_loss += report.train_loss / n;
    record.loss_local += report.evaluation.loss / n;
    record.consensus += squared_distance(report.model->floats(), mean) / n;
    record.passed_over[peer] = report.passed_over;
    if (!report.evaluation.accuracy) continue;
    const double accuracy = *report.evaluation.accuracy;
    record.accuracy_min = std::min(record.accuracy_min.value_or(accuracy), accuracy);
    record.accuracy_max = std::max(record.accuracy_max.value_or(accuracy), accuracy);
  }
  record.training_time = std::max(Time{0}, now - looking);
  return record;
}

FinalHashes Observer::hashes() const {
  FinalHashes hashes;
  XXH3_state_t* state = XXH3_createState();
  XXH3_128bits_reset(state);
  for (const auto& [peer, report] : finals_)
    XXH3_128bits_update(state, report.model->data(), report.model->size());
  hashes.params = hex_of(XXH3_128bits_digest(state));
  XXH3_freeState(state);
  const std::vector<float> mean = mean_model();
  hashes.model = hex_of(XXH3_128bits(mean.data(), mean.size() * sizeof(float)));
  return hashes;
}

std::vector<float> Observer::mean_model() const {
  return model_of(finals_);
}

}  // namespace gv
