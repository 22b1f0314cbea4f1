#include "optim/train/stage_objective.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "optim/check.h"
#include "optim/data/data_facts.h"
#include "optim/data/packed.h"
#include "optim/host/host_network.h"
#include "optim/host/network_objective.h"

namespace gv {
namespace {

/// The rows of a minibatch.
struct Drawn {
  std::vector<std::uint32_t> rows{};
  std::vector<View> views{};
  /// State of the stream before the draw; only if other minibatches may be in flight too.
  std::optional<Minibatches> before{};
};

/// A microbatch that went forward and has not come back.
struct Slot {
  std::uint32_t microbatch = 0;
  std::uint64_t pass = 0;                ///< number of the forward pass
  std::shared_ptr<const Drawn> drawn;    ///< its minibatch; null between the ends of the chain
  std::unique_ptr<HostNetwork> network;  ///< has its values; null if they are recomputed
  std::vector<float> input;              ///< input for recomputation; unused at the first stage
};

class StageObjective : public Objective {
 public:
  StageObjective(StageSpec spec, Share share)
      : spec_(std::move(spec)),
        whole_(part(spec_.network, spec_.cuts, spec_.stage).range),
        own_(part_of_member(
            part(spec_.network, spec_.cuts, spec_.stage), spec_.member, spec_.members)),
        part_(own_.part) {
    GV_CHECK(spec_.minibatches == 1 || spec_.microbatches == 1,
             "minibatches follow each other whole");
    GV_CHECK(spec_.copy < spec_.copies && spec_.copies <= spec_.microbatches,
             "each copy of a stage has a microbatch");
    if (!part_.first && !part_.last) return;
    check_fits(spec_.network, *share.train);
    train_ = std::move(share.train);
    weights_ = class_weights(*train_);
    batches_.emplace(std::move(share.rows), share.rng, share.augment);
  }

  std::vector<Parameter> parameters() const override { return part_.network.parameters(); }
  std::uint32_t samples() const override { return batches_ ? batches_->rows() : 0; }
  void initialize(std::span<float> x, Rng rng) const override {
    if (!own_.divided) return gv::initialize(spec_.network, whole_, x, rng);
    std::vector<float> whole(whole_.count);
    gv::initialize(spec_.network, whole_, whole, rng);
    for (const Range& range : own_.ranges) {
      const std::span<const float> from(whole.data() + (range.begin - whole_.begin), range.count);
      std::ranges::copy(from, x.begin());
      x = x.subspan(range.count);
    }
  }
  double value_and_gradient(std::span<const float>, std::uint32_t, std::span<float>) override {
    GV_CHECK(false, "a stage has a gradient in its chain only");
    return 0;
  }
  Evaluation evaluate(std::span<const float>) override { return {}; }
  double gradient_flops(std::uint32_t batch) const override {
    return part_.network.gradient_flops(batch);
  }

  void forward(std::span<const float> x, Microbatch at, const Buffer* in, Buffer* out) override {
    if (at.number == spec_.copy) begin(at.batch);
    GV_CHECK_EQUAL(at.number, spec_.copy + spec_.copies * forwarded_++,
                   "microbatches go forward in their order");
    const std::span<const float> input = crossing(in, part_.floats_in);
    const std::span<float> output = crossing(out, part_.floats_out);
    std::unique_ptr<HostNetwork> network = take_network();
    Slot slot{at.number, ++passes_, drawn_, nullptr, {}};
    compute(x, slot, input, *network);
    if (!part_.last) std::ranges::copy(network->outputs(), output.begin());
    if (spec_.recompute) {
      slot.input.assign(input.begin(), input.end());
      free_.push_back(std::move(network));
    } else {
      slot.network = std::move(network);
    }
    under_way_.push_back(std::move(slot));
  }

  double backward(std::span<const float> x,
                  Microbatch at,
                  Buffer* in,
                  const Buffer* out,
                  std::span<float> g) override {
    GV_CHECK(!under_way_.empty(), "a microbatch under way");
    Slot slot = std::move(under_way_.front());
    under_way_.pop_front();
    GV_CHECK_EQUAL(at.number, slot.microbatch, "microbatches come back in their order");
    const std::span<float> input_gradient = crossing(in, part_.floats_in);
    const std::span<const float> output_gradient = crossing(out, part_.floats_out);
    if (spec_.recompute) {
      slot.network = take_network();
      if (held_ != slot.pass) compute(x, slot, slot.input, *slot.network);
    }
    double loss = 0;
    if (part_.last) {
      read_labels(slot);
      loss =
          softmax_cross_entropy(slot.network->logits(), labels_, part_.network.classes, weights_);
    } else {
      std::ranges::copy(output_gradient, slot.network->output_gradients().begin());
    }
    slot.network->backward(x, g);
    if (!part_.first) std::ranges::copy(slot.network->input_gradients(), input_gradient.begin());
    held_.reset();
    free_.push_back(std::move(slot.network));
    return loss;
  }

  void save(StateWriter& out) const override {
    if (!batches_) return;
    const bool ahead = !under_way_.empty() && under_way_.front().drawn->before;
    (ahead ? *under_way_.front().drawn->before : *batches_).save(out);
  }
  void restore(StateReader& in) override {
    if (batches_) batches_->restore(in);
  }

 private:
  /// Begins a minibatch of `batch` rows.
  void begin(std::uint32_t batch) {
    GV_CHECK(under_way_.size() <= (spec_.minibatches - 1) * spec_.microbatches,
             "a minibatch begins when an earlier one has come back");
    GV_CHECK(batch >= spec_.microbatches && batch % spec_.microbatches == 0,
             "microbatches of equally many rows");
    const std::uint32_t rows = batch / spec_.microbatches;
    if (rows != rows_) free_.clear();
    rows_ = rows;
    forwarded_ = 0;
    if (!batches_) return;
    const auto drawn = std::make_shared<Drawn>();
    if (spec_.minibatches > 1) drawn->before.emplace(*batches_);
    const std::span<const std::uint32_t> rows_drawn = batches_->next(batch);
    drawn->rows.assign(rows_drawn.begin(), rows_drawn.end());
    drawn->views.assign(batches_->views().begin(), batches_->views().end());
    drawn_ = drawn;
  }

  /// Returns the values of one microbatch at a cut; empty without a cut.
  template <class AnyBuffer>
  auto crossing(AnyBuffer* buffer, std::size_t floats_of_a_row) const
      -> decltype(buffer->floats()) {
    GV_CHECK((buffer != nullptr) == (floats_of_a_row > 0), "a buffer for each cut");
    if (buffer == nullptr) return {};
    GV_CHECK_EQUAL(buffer->size(), rows_ * floats_of_a_row * sizeof(float), "of its size");
    return buffer->floats();
  }

  std::unique_ptr<HostNetwork> take_network() {
    if (free_.empty())
      return std::make_unique<HostNetwork>(
          part_.network, rows_, true,
          NetworkEnds{.gradient_in = !part_.first, .gradient_out = !part_.last});
    std::unique_ptr<HostNetwork> network = std::move(free_.back());
    free_.pop_back();
    return network;
  }

  void compute(std::span<const float> x,
               const Slot& slot,
               std::span<const float> input,
               HostNetwork& network) {
    if (!part_.first) {
      std::ranges::copy(input, network.inputs().begin());
    } else if (part_.network.vocabulary > 0) {
      labels_.resize(network.tokens().size());
      train_->gather_windows(rows_of(slot), network.tokens(), labels_);
    } else {
      train_->gather(rows_of(slot), views_of(slot), network.inputs());
    }
    network.forward(x, Moments::of_the_batch);
    held_ = slot.pass;
  }

  void read_labels(const Slot& slot) {
    labels_.clear();
    if (train_->is_text()) {
      labels_.resize(std::size_t{rows_} * part_.network.positions());
      tokens_.resize(labels_.size());
      train_->gather_windows(rows_of(slot), tokens_, labels_);
      return;
    }
    for (const std::uint32_t row : rows_of(slot)) labels_.push_back(train_->labels[row]);
  }

  std::span<const std::uint32_t> rows_of(const Slot& slot) const {
    return std::span(slot.drawn->rows).subspan(std::size_t{slot.microbatch} * rows_, rows_);
  }
  std::span<const View> views_of(const Slot& slot) const {
    if (slot.drawn->views.empty()) return {};
    return std::span(slot.drawn->views).subspan(std::size_t{slot.microbatch} * rows_, rows_);
  }

  StageSpec spec_;
  Range whole_;     ///< the stage's range of the whole vector
  MemberPart own_;  ///< this member's part of the stage
  const Part& part_;
  std::shared_ptr<const Dataset> train_;  ///< null between the first and the last stage
  std::span<const float> weights_;        ///< by class; empty if all are equal
  std::optional<Minibatches> batches_;
  std::shared_ptr<const Drawn> drawn_;  ///< the newest minibatch
  std::uint32_t rows_ = 0;              ///< rows of a microbatch
  std::uint32_t forwarded_ = 0;         ///< its microbatches that went forward here
  std::uint64_t passes_ = 0;
  std::deque<Slot> under_way_;
  std::vector<std::unique_ptr<HostNetwork>> free_;
  std::optional<std::uint64_t> held_;  ///< pass whose values are in the last network that ran
  std::vector<std::uint8_t> labels_, tokens_;
};

class MemberObjective : public Objective {
 public:
  explicit MemberObjective(std::vector<std::unique_ptr<Objective>> pieces)
      : pieces_(std::move(pieces)) {
    std::size_t begin = 0;
    for (const auto& piece : pieces_) {
      ranges_.push_back({begin, piece->size()});
      begin += piece->size();
    }
  }

  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> all;
    for (const auto& piece : pieces_)
      for (Parameter& own : piece->parameters()) all.push_back(std::move(own));
    return all;
  }
  std::uint32_t samples() const override {
    std::uint32_t most = 0;
    for (const auto& piece : pieces_) most = std::max(most, piece->samples());
    return most;
  }
  void initialize(std::span<float> x, Rng rng) const override {
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      pieces_[p]->initialize(x.subspan(ranges_[p].begin, ranges_[p].count), rng);
  }
  double value_and_gradient(std::span<const float>, std::uint32_t, std::span<float>) override {
    GV_CHECK(false, "a member has a gradient in its chain only");
    return 0;
  }
  Evaluation evaluate(std::span<const float>) override { return {}; }
  double gradient_flops(std::uint32_t batch) const override {
    double all = 0;
    for (const auto& piece : pieces_) all += piece->gradient_flops(batch);
    return all;
  }

  void forward(std::span<const float> x, Microbatch at, const Buffer* in, Buffer* out) override {
    const std::size_t p = piece_of(at);
    pieces_[p]->forward(x.subspan(ranges_[p].begin, ranges_[p].count), inside(at), in, out);
  }
  double backward(std::span<const float> x,
                  Microbatch at,
                  Buffer* in,
                  const Buffer* out,
                  std::span<float> g) override {
    const std::size_t p = piece_of(at);
    const auto [begin, count] = ranges_[p];
    return pieces_[p]->backward(x.subspan(begin, count), inside(at), in, out,
                                g.subspan(begin, count));
  }

  void save(StateWriter& out) const override {
    for (const auto& piece : pieces_) piece->save(out);
  }
  void restore(StateReader& in) override {
    for (const auto& piece : pieces_) piece->restore(in);
  }

 private:
  std::size_t piece_of(Microbatch at) const { return at.number % pieces_.size(); }
  Microbatch inside(Microbatch at) const {
    return {.batch = at.batch, .number = at.number / static_cast<std::uint32_t>(pieces_.size())};
  }

  std::vector<std::unique_ptr<Objective>> pieces_;
  std::vector<Range> ranges_;  ///< range of x of each piece
};

}  // namespace

std::unique_ptr<Objective> make_stage_objective(StageSpec spec, Share share) {
  return std::make_unique<StageObjective>(std::move(spec), std::move(share));
}

std::unique_ptr<Objective> make_member_objective(const MemberSpec& spec, const Share& share) {
  std::vector<std::unique_ptr<Objective>> pieces;
  for (std::uint32_t k = spec.first; k < spec.end; ++k)
    pieces.push_back(make_stage_objective({.network = spec.network,
                                           .cuts = spec.cuts,
                                           .stage = k,
                                           .member = spec.member,
                                           .members = spec.members,
                                           .microbatches = spec.microbatches,
                                           .recompute = spec.recompute},
                                          share));
  return std::make_unique<MemberObjective>(std::move(pieces));
}

}  // namespace gv
