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

/// The one who says how good a model is, at once or later. One question is open at a time.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Asks about a model; what was asked before needs no answer any more.
  virtual void ask(std::span<const float> x) = 0;
  /// The answer to the newest question, once; nothing: it is still to come.
  virtual std::optional<Evaluation> answer() = 0;
  /// Adds what is readable when an answer may have come.
  virtual void add_to(std::vector<pollfd>&) const {}
};

/// One that answers at once.
std::unique_ptr<Evaluator> make_evaluator(std::unique_ptr<Objective> objective);

/// The fleet's model at its best evaluation.
struct BestModel {
  Round round = 0;
  double figure = 0;  ///< see ProgressWatch
  std::vector<float> x;
};

/// All that an earlier part of a run has left: its evaluations, of which only the figures of
/// targets count, and the best model that it kept.
struct Recalled {
  std::vector<FleetRecord> records{};
  std::optional<BestModel> best{};
};

/// Gathers the peers' reports and looks at the fleet as a whole. Takes no part in training.
///
/// An evaluator may answer later. What comes meanwhile waits, and counts afterwards in the order in
/// which it came, with its own time: the records are those of an evaluator that answers at once.
class Observer {
 public:
  Observer(PeerId peers,
           std::unique_ptr<Objective> evaluator,
           std::function<void(const FleetRecord&)> on_record);
  /// The evaluator outlives it.
  Observer(PeerId peers, Evaluator& evaluator, std::function<void(const FleetRecord&)> on_record);
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  /// Takes a report at time `now`; when it is the last missing one of its round, makes the record.
  /// Who has reported a later round will not report an earlier one: records do not wait for it. A
  /// peer that was started again may, and what it says of a round that has its record is not taken.
  /// The same for the final replicas, whatever rounds they stopped at. Where evaluations go by
  /// time, who was late for one counts there with its next report, and who has ended with its
  /// last.
  void take(Report report, Time now);
  /// A peer that will report no more (lost): records no longer wait for it.
  void forget(PeerId peer);
  /// A forgotten peer that will report again.
  void expect(PeerId peer);

  /// Returns whether a record waits for its figures. They are taken by work(), and add_to() adds
  /// what is readable when they may be there.
  bool waits() const { return asked_.has_value(); }
  void work() { go_on(); }
  void add_to(std::vector<pollfd>& fds) const {
    if (waits()) evaluator_->add_to(fds);
  }
  /// Counts what has come since then.
  std::size_t behind() const { return waiting_.size(); }
  /// The end is to come soon: from now on only the last record waits for its figures; those before
  /// it have none.
  void hurry();
  /// No record waits for figures any more.
  void give_up();

  /// Holds records to these aims from now on. The record that reaches the target, or with which
  /// patience ends, is the run's last one, and its replicas are the final ones: what peers do until
  /// they hear of it counts nowhere, so that a synchronous method ends in the same round with the
  /// same bits, however late they hear.
  void aim_at(Aims aims);
  /// Goes on, with the aims, where an earlier part of the run ended.
  void recall(Recalled past);
  bool target_reached() const { return target_.reached(); }
  bool out_of_patience() const { return progress_.out_of_patience(); }
  /// Returns whether an aim has ended the run.
  bool over() const { return target_reached() || out_of_patience(); }
  const TargetSpec& measure() const { return progress_.measure(); }

  /// The newest record of a round, once there is one.
  const std::optional<FleetRecord>& latest() const { return latest_; }
  /// Returns the final record, after every peer's last report (or forget).
  const std::optional<FleetRecord>& summary() const { return summary_; }
  /// Somebody has ended, and no chain of stages is whole: the fleet has no model, and no summary.
  bool has_no_model() const { return aims_.models.size > 0 && !finals_.empty() && !summary_; }
  std::string params_hash() const { return hashes().params; }
  FinalHashes hashes() const;
  /// The fleet's model of the final replicas.
  std::vector<float> mean_model() const;
  /// The model of the best evaluation until now; nothing unless it is to be kept (Aims).
  const std::optional<BestModel>& best() const { return best_; }
  /// Returns what a run leaves: the best model where it is kept, otherwise mean_model().
  std::vector<float> saved_model() const { return best_ ? best_->x : mean_model(); }
  const std::map<PeerId, Report>& finals() const { return finals_; }

 private:
  using Told = std::map<PeerId, Report>;
  /// The report of a peer at a tick of the clock.
  struct AtTick {
    Report report;
    Time came{0};
  };

  /// A record that waits for the figures of its model.
  struct Asked {
    FleetRecord record{};
    Told reports{};
    bool last = false;  ///< of the run
  };
  /// A piece of news: a report, or that a peer is gone (-1) or expected again (+1).
  struct Event {
    std::optional<Report> report{};
    PeerId peer = 0;
    int change = 0;
    Time now{0};
  };
  enum class Patience : std::uint8_t { whole, for_the_last, none };

  void come(Event event);
  void go_on();
  void heed(Event event);
  void keep(Report report, Time now);
  void drop(PeerId peer);
  /// Makes the next record that is due, and asks for its figures; false: none is.
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
  std::unique_ptr<Evaluator> own_;  ///< null: it is another's
  Evaluator* evaluator_;
  std::function<void(const FleetRecord&)> on_record_;
  /// ReportsByPeer to be recorded. A peer that lags leaves much here, so nothing walks through all
  /// of it.
  std::map<Round, Told> open_;
  Round due_ = 0;  ///< all rounds until this one that somebody has reported are to be told
  Time now_{0};    ///< of what came last, of that which counts
  std::optional<Asked> asked_;
  std::deque<Event> waiting_;
  Patience patience_ = Patience::whole;
  Round told_ = 0;  ///< the last round that has a record: who does it again later is not asked
  std::map<PeerId, std::map<std::uint64_t, AtTick>> ticks_;
  std::map<PeerId, Report> finals_;
  Aims aims_;
  TargetWatch target_{std::nullopt};
  ProgressWatch progress_{Aims{}};
  std::optional<BestModel> best_;
  FleetCosts costs_;
  std::vector<double> losses_;         ///< of the records until now, as far as they are finite
  std::optional<LossRise> loss_rise_;  ///< the first
  std::optional<FleetRecord> latest_;
  std::optional<FleetRecord> summary_;
};

}  // namespace gv
