#include "peer/record/observer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "optim/unknown_figure.h"

namespace gv {
namespace {

class EvaluatorAtOnce : public Evaluator {
 public:
  explicit EvaluatorAtOnce(std::unique_ptr<Objective> objective)
      : objective_(std::move(objective)) {}

  void ask(std::span<const float> x) override { answer_ = objective_->evaluate(x); }
  std::optional<Evaluation> answer() override { return std::exchange(answer_, std::nullopt); }

 private:
  std::unique_ptr<Objective> objective_;
  std::optional<Evaluation> answer_;
};

double count_trainers(const ReportsByPeer& reports) {
  return static_cast<double>(
      std::ranges::count_if(reports, [](const auto& entry) { return entry.second->trains; }));
}

std::map<PeerId, Report> copies_of(const ReportsByPeer& reports) {
  std::map<PeerId, Report> copies;
  for (const auto& [peer, report] : reports) copies.emplace(peer, *report);
  return copies;
}

ReportsByPeer pointers_to(const std::map<PeerId, Report>& reports) {
  ReportsByPeer pointers;
  for (const auto& [peer, report] : reports) pointers[peer] = &report;
  return pointers;
}

std::string hex_of(const XXH128_hash_t& hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// Pairs of a model and the start of a range: a range that several members hold whole counts once.
using Counted = std::set<std::pair<PeerId, std::size_t>>;

double squared_distance(const Report& report, std::span<const float> mean, Counted& counted) {
  double sum = 0;
  const float* values = report.model->floats().data();
  for (const Range& range : held_ranges(report)) {
    const float* const x = std::exchange(values, values + range.count);
    const bool shared = !report.holds.ranges.empty();
    if (shared && !counted.insert({report.holds.model.value_or(0), range.begin}).second) continue;
    for (std::size_t k = 0; k < range.count; ++k) {
      const double difference =
          static_cast<double>(x[k]) - static_cast<double>(mean[range.begin + k]);
      sum += difference * difference;
    }
  }
  return sum;
}

/// Adds the current values of memories and actors, not their running totals (fleet_record.h).
void add(const ExperienceFigures& of, FleetRecord& record) {
  ExperienceFigures& all = record.experience ? *record.experience : record.experience.emplace();
  all.kept += of.kept;
  all.actors += of.actors;
}

/// Above any loss of a model that has learnt something, whatever its unit.
constexpr double beyond_learning = 1e30;

}  // namespace

std::unique_ptr<Evaluator> make_evaluator(std::unique_ptr<Objective> objective) {
  return std::make_unique<EvaluatorAtOnce>(std::move(objective));
}

std::optional<double> figure_of(const FleetRecord& record, const TargetSpec& target) {
  const bool mean = target.whose == TargetSpec::Whose::mean;
  if (target.figure == TargetSpec::Figure::loss) return mean ? record.mean.loss : record.loss_local;
  return mean ? record.mean.accuracy : record.accuracy_min;
}

Observer::Observer(PeerId peers,
                   std::unique_ptr<Objective> evaluator,
                   std::function<void(const FleetRecord&)> on_record)
    : expected_(peers),
      own_(make_evaluator(std::move(evaluator))),
      evaluator_(own_.get()),
      on_record_(std::move(on_record)) {}

Observer::Observer(PeerId peers,
                   Evaluator& evaluator,
                   std::function<void(const FleetRecord&)> on_record)
    : expected_(peers), evaluator_(&evaluator), on_record_(std::move(on_record)) {}

void Observer::aim_at(Aims aims) {
  aims_ = std::move(aims);
  target_ = TargetWatch(aims_.target);
  progress_ = ProgressWatch(aims_);
}

/// The best model may be of a round that the resumed run repeats. Peers evaluate the round of their
/// checkpoint again, because its record may have been lost; an existing record counts.
void Observer::recall(Recalled past) {
  for (const FleetRecord& record : past.records) {
    progress_.recall(figure_of(record, measure()));
    if (target_.target()) target_.recall(figure_of(record, *target_.target()));
    told_ = std::max(told_, record.round);
  }
  if (aims_.keep_best) best_ = std::move(past.best);
}

void Observer::take(Report report, Time now) {
  come({.report = std::move(report), .now = now});
}

void Observer::forget(PeerId peer) {
  come({.peer = peer, .change = -1});
}

void Observer::expect(PeerId peer) {
  come({.peer = peer, .change = 1});
}

void Observer::hurry() {
  patience_ = std::max(patience_, Patience::for_the_last);
  go_on();
}

void Observer::give_up() {
  patience_ = Patience::none;
  go_on();
}

void Observer::come(Event event) {
  waiting_.push_back(std::move(event));
  go_on();
}

/// Handles events one at a time, because each may change the records that are due.
void Observer::go_on() {
  while (!asked_ || take_answer()) {
    if (next_record()) continue;
    if (waiting_.empty()) return;
    Event event = std::move(waiting_.front());
    waiting_.pop_front();
    handle_event(std::move(event));
  }
}

void Observer::handle_event(Event event) {
  if (event.report) return keep(std::move(*event.report), event.now);
  if (event.change > 0)
    ++expected_;
  else
    drop(event.peer);
}

void Observer::keep(Report report, Time now) {
  if (over()) return;
  now_ = now;
  const PeerId peer = report.peer;
  if (report.last) {
    finals_.insert_or_assign(peer, std::move(report));
  } else if (report.tick > 0) {
    const std::uint64_t tick = report.tick;
    ticks_[peer].insert_or_assign(tick, AtTick{.report = std::move(report), .came = now});
  } else if (report.round > told_) {
    const auto round = open_.try_emplace(report.round).first;
    round->second.insert_or_assign(peer, std::move(report));
    if (round->second.size() >= expected_) due_ = std::max(due_, round->first);
  }
}

void Observer::drop(PeerId peer) {
  if (finals_.contains(peer) || expected_ == 0 || over()) return;
  --expected_;
  for (auto& [round, reports] : open_) reports.erase(peer);
  ticks_.erase(peer);
  std::erase_if(open_, [](const auto& round) { return round.second.empty(); });
  const auto whole = [this](const auto& round) { return round.second.size() >= expected_; };
  if (const auto last = std::find_if(open_.rbegin(), open_.rend(), whole); last != open_.rend())
    due_ = std::max(due_, last->first);
}

/// Records the first rise of the fleet's loss above a hundred times its median until now. A loss
/// that was close to zero may rise that much while below a hundredth of the greatest loss.
void Observer::watch(FleetRecord& record) {
  // An agent's loss is minus its return, so multiples of the loss mean nothing.
  if (record.frames) return;
  constexpr double hundredfold = 100;
  constexpr double rounding = 1e-10;  // float32 rounding, squared and summed
  constexpr std::size_t least_known = 3;
  const double loss = record.mean.loss;
  const double median = losses_.empty() ? 0 : losses_[losses_.size() / 2];
  const bool high = losses_.size() >= least_known && loss > rounding &&
                    loss > hundredfold * median && loss > losses_.back() / hundredfold;
  if (!loss_rise_ && (high || has_diverged(loss) || loss > beyond_learning))
    loss_rise_ = LossRise{.round = record.round, .from = median, .to = loss};
  // Diverging models may have a good mean. A NaN may be an unknown loss.
  if (!loss_rise_ && record.loss_local > beyond_learning)
    loss_rise_ = LossRise{.round = record.round, .from = median, .to = record.loss_local};
  record.loss_rise = loss_rise_;
  // Sorted insertion: a run may have a million records.
  if (std::isfinite(loss)) losses_.insert(std::ranges::upper_bound(losses_, loss), loss);
}

void Observer::tell(Asked asked) {
  const ReportsByPeer reports = pointers_to(asked.reports);
  watch(asked.record);
  see(asked.record, reports);
  if (!asked.last) latest_ = asked.record;
  if (over() && !asked.last) finals_ = asked.reports;
  if (over() || asked.last) end_with(std::move(asked.record));
  if (on_record_) on_record_(summary_ ? *summary_ : *latest_);
}

void Observer::see(const FleetRecord& record, const ReportsByPeer& reports) {
  if (target_.target()) target_.see(figure_of(record, *target_.target()));
  const std::optional<double> figure = figure_of(record, measure());
  const bool better = progress_.see(figure);
  if (!better || !aims_.keep_best) return;
  const bool accuracy = measure().figure == TargetSpec::Figure::accuracy;
  if (best_ && (accuracy ? *figure <= best_->figure : *figure >= best_->figure)) return;
  best_ = BestModel{.round = record.round, .figure = *figure, .x = mean_of_reports(reports)};
}

/// Evaluates the saved model on the test set, once.
void Observer::end_with(FleetRecord record) {
  summary_ = std::move(record);
  if (best_) summary_->saved = best_->round;
  if (aims_.test) summary_->test = aims_.test()->evaluate(saved_model());
}

bool Observer::next_record() {
  return !over() && (next_round() || next_tick() || next_end());
}

/// A peer that was away skips rounds, so a round that all reported completes those before it. If no
/// peer that trains reported a round, there is no model to evaluate.
bool Observer::next_round() {
  const auto first = open_.begin();
  if (first == open_.end() || first->first > due_) return false;
  told_ = first->first;
  Told told = std::move(first->second);
  open_.erase(first);
  judge_models(told, aims_.models);
  const ReportsByPeer reports = pointers_to(told);
  if (count_trainers(reports) == 0) return true;
  const std::vector<float> mean = mean_of_reports(reports);
  ask({.record = look(reports, mean, now_), .reports = std::move(told)}, mean);
  return true;
}

/// One tick at a time, because a report may also stand for an earlier tick.
bool Observer::next_tick() {
  std::uint64_t tick = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [peer, reports] : ticks_)
    if (!reports.empty()) tick = std::min(tick, reports.begin()->first);
  // Avoids at_tick(): with 100,000 peers that end, its cost would be quadratic.
  if (tick == std::numeric_limits<std::uint64_t>::max()) return false;
  const ReportsByPeer reports = at_tick(tick);
  if (reports.size() < expected_) return false;
  const std::vector<float> mean = mean_of_reports(reports);
  Asked asked{.record = look_at(tick, reports, mean), .reports = copies_of(reports)};
  for (auto& [peer, each] : ticks_) each.erase(tick);
  ask(std::move(asked), mean);
  return true;
}

bool Observer::next_end() {
  if (finals_.size() != expected_ || expected_ == 0 || summary_) return false;
  judge_models(finals_, aims_.models);
  const ReportsByPeer reports = pointers_to(finals_);
  // An incomplete chain has no model, whatever parts it has.
  if (aims_.models.size > 0 && count_trainers(reports) == 0) return false;
  const std::vector<float> mean = mean_of_reports(reports);
  FleetRecord end = look(reports, mean, now_);
  end.uneven = uneven_edges(reports);
  end.quiet = quiet_edges(reports);
  for (const auto& [peer, report] : reports)
    if (report->ran_ahead) end.ran_ahead[peer] = *report->ran_ahead;
  if (latest_ && latest_->tick > 0)
    end.training_time = std::max(end.training_time, latest_->training_time);
  ask({.record = std::move(end), .reports = finals_, .last = true}, mean);
  return true;
}

bool Observer::has_patience_for(const Asked& asked) const {
  return patience_ == Patience::whole || (asked.last && patience_ == Patience::for_the_last);
}

void Observer::ask(Asked asked, std::span<const float> mean) {
  asked_ = std::move(asked);
  if (has_patience_for(*asked_)) evaluator_->ask(mean);
}

/// Completes the waiting record once its figures are there, or if it does not wait for them.
bool Observer::take_answer() {
  std::optional<Evaluation> figures = Evaluation{.loss = unknown_figure(), .accuracy = {}};
  if (has_patience_for(*asked_)) figures = evaluator_->answer();
  if (!figures) return false;
  Asked asked = std::move(*asked_);
  asked_.reset();
  asked.record.mean = *figures;
  tell(std::move(asked));
  return true;
}

FleetRecord Observer::look_at(std::uint64_t tick,
                              const ReportsByPeer& reports,
                              std::span<const float> mean) {
  Time newest{0}, due{0};
  for (const auto& [peer, each] : ticks_) {
    const auto at = each.find(tick);
    if (at == each.end()) continue;
    newest = std::max(newest, at->second.came);
    due = at->second.report.due;
  }
  FleetRecord record = look(reports, mean, newest);
  record.tick = tick;
  record.training_time = due;
  if (latest_) record.time = std::max(record.time, latest_->time);
  return record;
}

/// Returns each peer's first report at `tick` or later, or its final report.
ReportsByPeer Observer::at_tick(std::uint64_t tick) const {
  ReportsByPeer reports = pointers_to(finals_);
  for (const auto& [peer, each] : ticks_) {
    const auto next = each.lower_bound(tick);
    if (next != each.end()) reports[peer] = &next->second.report;
  }
  return reports;
}

FleetRecord Observer::look(const ReportsByPeer& reports, std::span<const float> mean, Time now) {
  FleetRecord record;
  const double n = count_trainers(reports);
  record.peers = static_cast<PeerId>(n);
  record.chains = aims_.models.size > 0;
  record.time = now;
  record.validated = aims_.test != nullptr;
  Time looking{0};
  bool by_time = false;
  Round rounds = 0;
  const auto with_loss = static_cast<double>(std::ranges::count_if(reports, [](const auto& each) {
    return each.second->trains && !is_unknown(each.second->train_loss);
  }));
  Counted counted;
  for (const auto& [peer, each] : reports) {
    const Report& report = *each;
    record.round = std::max(record.round, report.round);
    by_time = by_time || report.tick > 0;
    if (report.trains) rounds += report.round;
    record.staleness = std::max(record.staleness, report.staleness);
    record.queue = std::max(record.queue, report.queue);
    costs_.take(report);
    if (report.experience) add(*report.experience, record);
    looking = std::max(
        looking, report.costs.spent[Activity::evaluate] + report.costs.spent[Activity::checkpoint]);
    record.longest_wait[peer] = report.costs.longest_wait;
    // Servers clip as well. Known attackers are left out, because they may lie about others.
    const bool counts = report.trains || report.holds.weight > 0;
    if (counts && !report.clipped.empty()) record.clipped[peer] = report.clipped;
    const bool judged = report.trains || (report.holds.model && report.holds.weight > 0);
    if (judged) record.consensus += squared_distance(report, mean, counted) / n;
    if (!report.trains) continue;
    if (report.loss_rise) record.loss_rises[peer] = *report.loss_rise;
    if (!is_unknown(report.train_loss)) record.train_loss += report.train_loss / with_loss;
    record.loss_local += report.evaluation.loss / n;
    record.passed_over[peer] = report.costs.passed_over;
    if (!report.evaluation.accuracy) continue;
    const double accuracy = *report.evaluation.accuracy;
    record.accuracy_min = std::min(record.accuracy_min.value_or(accuracy), accuracy);
    record.accuracy_max = std::max(record.accuracy_max.value_or(accuracy), accuracy);
  }
  if (with_loss == 0) record.train_loss = unknown_figure();
  if (n == 0) record.loss_local = record.consensus = unknown_figure();
  costs_.add_to(record, aims_.frames);
  if (by_time && record.peers > 0) record.round = rounds / record.peers;
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
  return mean_of_reports(pointers_to(finals_));
}

}  // namespace gv
