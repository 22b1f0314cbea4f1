#include "gossip/life/reports.h"

#include <numeric>

#include "optim/unknown_figure.h"

namespace gv {
namespace {

/// Number of rounds with a neighbour whose mean length is measured.
constexpr std::size_t measured = 15;
/// Number of rounds of both ends without a flow after which an edge is silent: a hundred, and two
/// for each peer, because the two ends may be in different rounds.
constexpr Round patience = 100;

}  // namespace

/// The mean of several rounds, since halves may come in pairs with twice the pause between them.
void PaceWatch::meet(Time now) {
  met_.push_back(now);
  if (met_.size() <= measured) return;
  const Time mean = (now - met_.front()) / std::int64_t{measured};
  met_.pop_front();
  usual_ = std::min(usual_.value_or(mean), mean);
}

bool PaceWatch::too_fast() const {
  if (!usual_ || ends_.size() <= most_times * rounds) return false;
  const auto alone = static_cast<std::size_t>(std::ranges::count_if(ends_, &End::alone));
  return 2 * alone > ends_.size() && ends_.back().at - ends_.front().at < rounds * *usual_;
}

std::optional<RunAhead> PaceWatch::see(Round round, Time now, bool company) {
  ends_.push_back({now, !company});
  if (ends_.size() > most_times * rounds + 1) ends_.pop_front();
  if (company) meet(now);
  if (!too_fast()) return {};
  const bool first = !found_;
  if (first) found_ = RunAhead{.first = round, .usual = *usual_};
  ++found_->rounds;
  return first ? found_ : std::nullopt;
}

/// Returns whether the algorithm has taken a message since the last call.
bool SteadyWatch::took_something() {
  const std::vector<std::uint64_t>& by_age = post_.staleness();
  const std::uint64_t now = std::accumulate(by_age.begin(), by_age.end(), std::uint64_t{0});
  return std::exchange(taken_, now) != now;
}

/// While no neighbour was ever away, the pace is the method's own, deadlines and schedules
/// included. When all have left, the peer's remaining work is its own: that is no pace to keep.
bool SteadyWatch::may_meet_somebody() const {
  bool outage = false;
  for (std::size_t k = 0; k < edges_.size(); ++k) outage = outage || roster_.outages(k) > 0;
  for (std::size_t k = 0; outage && k < edges_.size(); ++k) {
    const bool comes = !roster_.dead(k) || self_.plan.succession > Time{0};
    const bool left = roster_.quarantined(k) || post_.closed(self_.neighbors[k].peer);
    if (self_.neighbors[k].sends && comes && !left) return true;
  }
  return false;
}

void SteadyWatch::end_round() {
  std::optional<Neighborhood> row;
  const Setup* const setup = self_.plan.setup.get();
  const bool serves = setup != nullptr && self_.plan.id >= setup->peers;  // and has no row
  if (self_.plan.schedule && !serves) row = self_.plan.schedule->row(pace_.clock(), self_.plan.id);
  const bool needs_nobody = row && row->peers.empty() && row->receivers.empty();
  const bool company = took_something() || needs_nobody || !may_meet_somebody();
  if (const auto ahead = watch_.see(self_.round, self_.world.now(), company))
    self_.journal.note(event::RanAhead{*ahead});
  look_at_edges(row);
}

/// `row`: the partners that a schedule allows in this round; nothing if there is no schedule.
void SteadyWatch::look_at_edges(const std::optional<Neighborhood>& row) {
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    const Neighbor& neighbor = self_.neighbors[k];
    if (!neighbor.two_way || post_.closed(neighbor.peer)) continue;
    Edge& edge = edges_[k];
    const ExchangeNumber number = exchange_.number(k);
    const bool flows = edge.flows || number != edge.number;
    if (number != edge.number || !roster_.here(k) || roster_.quarantined(k))
      edge = {number, flows, self_.round, 0, pace_.heard(k)};
    else if (!row || std::ranges::count(row->peers, neighbor.peer) > 0)
      ++edge.rounds;
  }
}

std::vector<SilentEdge> SteadyWatch::silent() const {
  const Round most = patience + Round{2} * self_.plan.peers;
  std::vector<SilentEdge> silent;
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    const Edge& edge = edges_[k];
    if (!edge.flows || edge.rounds <= most || pace_.heard(k) <= edge.theirs + most) continue;
    silent.push_back({self_.neighbors[k].peer, edge.since, edge.rounds});
  }
  return silent;
}

void Reports::add_loss(double loss, double batches) {
  add_batches(batches);
  if (is_unknown(loss)) return;
  loss_sum_ += loss;
  ++losses_;
  if (const auto rise = watch_.see(self_.round, loss)) self_.journal.note(event::LossRose{*rise});
}

void Reports::tell_round() {
  steady_.end_round();
  const Post::Intake intake = post_.take_intake();
  intake_.staleness = std::max(intake_.staleness, intake.staleness);
  intake_.queue = std::max(intake_.queue, intake.queue);
  Timesheet& timesheet = self_.timesheet;
  self_.journal.round_done({.rounds = self_.round,
                            .now = self_.world.now(),
                            .spent = timesheet.spent(),
                            .sent_bytes = self_.world.sent_bytes(),
                            .staleness = intake.staleness,
                            .queue = intake.queue,
                            .intervals = timesheet.take_intervals()});
  timesheet.keep_intervals(self_.journal.wants_intervals(self_.round));
}

/// Rounds, because parts of minibatches do not add up to whole ones exactly.
std::uint64_t Reports::samples() const {
  return static_cast<std::uint64_t>(std::llround(batches_ * self_.plan.batch));
}

Costs Reports::costs() const {
  return {.spent = self_.timesheet.spent(),
          .sent_bytes = self_.world.sent_bytes(),
          .model_bytes = post_.sent_payloads(),
          .repeated_bytes = self_.world.repeated_bytes(),
          .samples = samples(),
          .longest_wait = post_.longest_wait(),
          .passed_over = pace_.passed_over()};
}

void Reports::begin() {
  const Plan& plan = self_.plan;
  if (plan.evaluate_period <= Time{0}) return;
  ticks_ = static_cast<std::uint64_t>(plan.clock_at_birth / plan.evaluate_period);
  ticking_ = true;
  tick_later();
}

/// Returns the fleet's time without evaluations and checkpoints, as this peer sees it.
Time Reports::training_clock() const {
  const Spent spent = self_.timesheet.spent();
  return self_.plan.clock_at_birth + spent.total() - spent[Activity::evaluate] -
         spent[Activity::checkpoint];
}

void Reports::tick_later() {
  const Time due = self_.plan.evaluate_period * static_cast<std::int64_t>(ticks_ + 1);
  self_.world.after(std::max(Time{1}, due - training_clock()), [this] {
    if (ticking_) tick();
  });
}

void Reports::resume() {
  paused_ = false;
  if (std::exchange(owed_, false) && ticking_) tick_later();
}

/// Reports x as it is now, whatever the algorithm does: the job is queued after those begun, so it
/// sees no half of a step. A peer that is late by several periods reports only the last.
void Reports::tick() {
  if (paused_) {
    owed_ = true;
    return;
  }
  const auto over = static_cast<std::uint64_t>(training_clock() / self_.plan.evaluate_period);
  if (over <= ticks_) return tick_later();
  ticks_ = over;
  const auto report = std::make_shared<Report>(begin_report(false));
  const std::shared_ptr<Buffer> copy = model_buffer();
  self_.timesheet.job_offered(Activity::evaluate);
  looking_ = true;
  const auto job = [this, copy] { look(*copy); };
  self_.world.offload(Lane::home, 0, job, [this, report, copy] {
    self_.timesheet.job_done();
    looking_ = false;
    publish(std::move(*report), copy);
    if (ticking_) tick_later();
  });
}

/// Returns a report without the model and its evaluation. Later losses count in the next one.
Report Reports::begin_report(bool last) {
  const Plan& plan = self_.plan;
  const bool by_time = plan.evaluate_period > Time{0};
  const std::uint64_t tick = by_time ? ticks_ + (last ? 1 : 0) : 0;
  const Round round = self_.round;
  const double loss = losses_ > 0 ? loss_sum_ / static_cast<double>(losses_) : unknown_figure();
  Report report{.peer = plan.id,
                .round = last || by_time ? round : round - round % plan.evaluate_every,
                .tick = tick,
                .due = plan.evaluate_period * static_cast<std::int64_t>(tick),
                .last = last,
                .train_loss = loss,
                .trains = plan.trains,
                .holds = plan.holds,
                .evaluation = {},
                .broken_by = post_.broken_by(),
                .left_by = post_.left_by(),
                .clipped = clipped(),
                .edges = last ? exchange_.ends() : std::vector<EdgeEnd>{},
                .loss_rise = watch_.first(),
                .ran_ahead = steady_.ran_ahead(),
                .silent = last ? steady_.silent() : std::vector<SilentEdge>{},
                .model = {},
                .costs = costs(),
                .staleness = intake_.staleness,
                .queue = intake_.queue,
                .experience = {}};
  if (plan.experience && !plan.experience->judged) report.experience = plan.experience->figures;
  intake_ = {};
  loss_sum_ = 0;
  losses_ = 0;
  return report;
}

/// Returns what was clipped of exchanges with neighbours, and of sums.
std::vector<ClippedFlows> Reports::clipped() const {
  std::map<PeerId, ClippedFlows> all = self_.cut;
  for (const ClippedFlows& flows : exchange_.clipped()) {
    ClippedFlows& of = all[flows.of];
    of.of = flows.of;
    of.exchanges += flows.exchanges;
    of.far += flows.far;
    of.still += flows.still;
    of.steps += flows.steps;
  }
  std::vector<ClippedFlows> ascending;
  ascending.reserve(all.size());
  for (const auto& [peer, flows] : all) ascending.push_back(flows);
  return ascending;
}

std::shared_ptr<Buffer> Reports::model_buffer() {
  return self_.pool().acquire(self_.replica.size() * sizeof(float));
}

void Reports::look(Buffer& model) {
  self_.replica.snapshot(Vector::x, {0, self_.replica.size()}, model);
  if (self_.plan.trains) self_.replica.evaluate();
}

/// No flops: an evaluation takes no virtual time.
Task<> Reports::evaluate(bool last) {
  const auto behind = [] {};  // waits for the job of a tick, which is reported first
  if (looking_) co_await self_.compute(0, behind, Activity::evaluate);
  Report report = begin_report(last);
  const std::shared_ptr<Buffer> copy = model_buffer();
  const auto job = [&] { look(*copy); };
  co_await self_.compute(0, job, Activity::evaluate);
  publish(std::move(report), copy);
}

void Reports::publish(Report report, Payload model) {
  if (self_.plan.trains) report.evaluation = self_.replica.evaluation();
  report.model = std::move(model);
  report.costs.spent = self_.timesheet.spent();
  self_.journal.publish(std::move(report));
}

}  // namespace gv
