#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <poll.h>

#include "optim/models/objective.h"
#include "peer/record/fleet_record.h"
#include "peer/record/joined_models.h"

namespace gv {

/// Evaluates a model, at once or later. One question is open at a time.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Asks for the evaluation of a model, and drops an earlier question.
  virtual void ask(std::span<const float> x) = 0;
  /// Returns the answer to the newest question once, or nothing if it is still to come.
  virtual std::optional<Evaluation> answer() = 0;
  /// Adds the descriptors that become readable when an answer may be there.
  virtual void add_to(std::vector<pollfd>&) const {}
};

/// Makes an evaluator that answers at once.
std::unique_ptr<Evaluator> make_evaluator(std::unique_ptr<Objective> objective);

/// The fleet's model at its best evaluation.
struct BestModel {
  Round round = 0;
  double figure = 0;  ///< figure by which it is best, see ProgressWatch
  std::vector<float> x;
};

/// State left by an earlier part of a run: its evaluations (only the figures of targets count) and
/// the best model that it kept.
struct Recalled {
  std::vector<FleetRecord> records{};
  std::optional<BestModel> best{};
};

/// Gathers the peers' reports and evaluates the fleet as a whole. Takes no part in training.
///
/// An evaluator may answer later. Events that arrive before the answer wait, and are then handled
/// in order with their own times, so the records equal those of an evaluator that answers at once.
class Observer {
 public:
  Observer(PeerId peers,
           std::unique_ptr<Objective> evaluator,
           std::function<void(const FleetRecord&)> on_record);
  /// The evaluator must outlive the observer.
  Observer(PeerId peers, Evaluator& evaluator, std::function<void(const FleetRecord&)> on_record);
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  /// Takes a report at time `now`; makes the record of its round if no other report is missing. A
  /// peer that has reported a later round will not report an earlier one, so records do not wait
  /// for it. A restarted peer may; its report is ignored if the round already has a record. The
  /// record of the final replicas is made in the same way, whatever rounds they stopped at. With
  /// evaluations by time, a peer that missed one counts there with its next report, and a peer that
  /// has ended with its last one.
  void take(Report report, Time now);
  /// Removes a lost peer: records no longer wait for it.
  void forget(PeerId peer);
  /// Adds a forgotten peer again.
  void expect(PeerId peer);

  /// Returns whether a record waits for its figures. work() takes them; add_to() adds the
  /// descriptors that become readable when they may be there.
  bool waits() const { return asked_.has_value(); }
  void work() { go_on(); }
  void add_to(std::vector<pollfd>& fds) const {
    if (waits()) evaluator_->add_to(fds);
  }
  /// Returns the number of events that wait for that record.
  std::size_t behind() const { return waiting_.size(); }
  /// From now on, only the last record waits for its figures; earlier ones get none.
  void hurry();
  /// Stops waiting: from now on no record waits for figures.
  void give_up();

  /// Applies these aims from now on. The record that reaches the target, or that exhausts the
  /// patience, is the last one of the run, and its replicas are the final ones. Later work of peers
  /// is ignored, so a synchronous method ends in the same round with the same bits, however late
  /// the peers learn of the end.
  void aim_at(Aims aims);
  /// Restores the progress of an earlier part of the run towards the aims.
  void recall(Recalled past);
  bool target_reached() const { return target_.reached(); }
  bool out_of_patience() const { return progress_.out_of_patience(); }
  /// Returns whether an aim has ended the run.
  bool over() const { return target_reached() || out_of_patience(); }
  const TargetSpec& measure() const { return progress_.measure(); }

  /// Returns the newest record of a round, if there is one.
  const std::optional<FleetRecord>& latest() const { return latest_; }
  /// Returns the final record, after every peer's last report (or forget).
  const std::optional<FleetRecord>& summary() const { return summary_; }
  /// Returns whether a peer has ended but no chain of stages is complete: the fleet then has no
  /// model and no summary.
  bool has_no_model() const { return aims_.models.size > 0 && !finals_.empty() && !summary_; }
  std::string params_hash() const { return hashes().params; }
  FinalHashes hashes() const;
  /// Returns the fleet's model, from the final replicas.
  std::vector<float> mean_model() const;
  /// Returns the model of the best evaluation, or nothing unless Aims::keep_best is set.
  const std::optional<BestModel>& best() const { return best_; }
  /// Returns the model that the run saves: the best one if that is kept, otherwise mean_model().
  std::vector<float> saved_model() const { return best_ ? best_->x : mean_model(); }
  const std::map<PeerId, Report>& finals() const { return finals_; }

 private:
  using Told = std::map<PeerId, Report>;
  /// Report of a peer at a tick of the clock, and when it arrived.
  struct AtTick {
    Report report;
    Time came{0};
  };

  /// A record that waits for the figures of its model.
  struct Asked {
    FleetRecord record{};
    Told reports{};
    bool last = false;  ///< last record of the run
  };
  /// A report, or a peer that is gone (`change` -1) or expected again (+1).
  struct Event {
    std::optional<Report> report{};
    PeerId peer = 0;
    int change = 0;
    Time now{0};
  };
  enum class Patience : std::uint8_t { whole, for_the_last, none };

  void come(Event event);
  void go_on();
  void handle_event(Event event);
  void keep(Report report, Time now);
  void drop(PeerId peer);
  /// Makes the next due record and asks for its figures. Returns false if none is due.
  bool next_record();
  bool next_round();
  bool next_tick();
  bool next_end();
  void ask(Asked asked, std::span<const float> mean);
  bool has_patience_for(const Asked& asked) const;
  bool take_answer();
  FleetRecord look(const ReportsByPeer& reports, std::span<const float> mean, Time now);
  void tell(Asked asked);
  void see(const FleetRecord& record, const ReportsByPeer& reports);
  void end_with(FleetRecord record);
  void watch(FleetRecord& record);
  FleetRecord look_at(std::uint64_t tick,
                      const ReportsByPeer& reports,
                      std::span<const float> mean);
  ReportsByPeer at_tick(std::uint64_t tick) const;

  PeerId expected_;
  std::unique_ptr<Evaluator> own_;  ///< null if the caller owns it
  Evaluator* evaluator_;
  std::function<void(const FleetRecord&)> on_record_;
  /// Reports to be recorded, by round. A lagging peer leaves many here: never walk through all.
  std::map<Round, Told> open_;
  Round due_ = 0;  ///< rounds with reports up to this one are to be recorded
  Time now_{0};    ///< time of the last report that counted
  std::optional<Asked> asked_;
  std::deque<Event> waiting_;
  Patience patience_ = Patience::whole;
  Round told_ = 0;  ///< last round with a record; later reports of that round are ignored
  std::map<PeerId, std::map<std::uint64_t, AtTick>> ticks_;
  std::map<PeerId, Report> finals_;
  Aims aims_;
  TargetWatch target_{std::nullopt};
  ProgressWatch progress_{Aims{}};
  std::optional<BestModel> best_;
  FleetCosts costs_;
  std::vector<double> losses_;         ///< finite losses of past records, sorted
  std::optional<LossRise> loss_rise_;  ///< first rise
  std::optional<FleetRecord> latest_;
  std::optional<FleetRecord> summary_;
};

}  // namespace gv
