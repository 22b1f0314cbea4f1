#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gossip/seam/journal.h"
#include "gossip/seam/traffic.h"
#include "optim/train/replica.h"

namespace gv {

/// One process of a peer.
struct Life {
  PeerId peer = 0;
  std::uint64_t number = 0;
  auto operator<=>(const Life&) const = default;
};

/// Compares the ledgers of all peers. Every piece of an exchange must be applied once at each end,
/// in order, with the same weight and bit-identical vectors, so that the flows are opposite. One
/// end may miss the last exchange only if the other is dead.
class Audit {
 public:
  /// `traffic`: content of the settlement's halves, for vectors of length d.
  void settled(
      Life at, Life with, const Settlement& settlement, const Traffic& traffic, std::size_t d);
  /// Reports that a reader accepted a loan that the lender's memory does not hold.
  void believed(Life reader, Life lender);
  /// Ignores what this life did, and what was done with it, as evidence about the others.
  void distrust(Life life) { liars_.insert(life); }
  /// Reports at the end what counts at one end only. `dead`: a life ended without last messages.
  void close(const std::function<bool(Life)>& dead,
             const std::function<bool(Life, Life)>& given_up);
  /// Returns the sum of what a life's exchanges added to its x, for finite values.
  const std::vector<double>& flows(Life life) { return flows_[life]; }
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  struct Side {
    ExchangeNumber exchange;         ///< exchange of the next piece
    std::uint32_t part = 0;          ///< index of the next piece
    std::deque<Settlement> waiting;  ///< pieces that the other side has not settled yet
  };
  using Pair = std::pair<Life, Life>;

  bool trusted(Life a, Life b) const { return !liars_.contains(a) && !liars_.contains(b); }
  std::vector<float> flow(
      Life at, Life with, const Settlement& s, const Traffic& traffic, const Piece& piece);
  void advance(Life at, Life with, Side& side, const Settlement& s);
  void compare(const Pair& pair, const Settlement& a, const Settlement& b);

  std::map<Pair, std::array<Side, 2>> pairs_;
  std::map<Life, std::vector<double>> flows_;
  /// Sums sent by one life to another, and received from it, for running traffic: by stream.
  std::map<std::pair<Pair, std::size_t>, std::vector<float>> told_, heard_;
  std::set<Life> liars_;
  std::vector<std::string> violations_;
};

/// A replica that tracks the origin of its vector: x = start + steps + flows. A step is anything
/// the peer itself writes to x; a flow is what an exchange adds. Averaging must not change the sum
/// over the fleet, so the sums of x and of start + steps must agree.
class AccountedReplica : public Replica {
 public:
  explicit AccountedReplica(std::unique_ptr<Replica> inner);

  /// Returns start + steps, by coordinate.
  const std::vector<double>& own() const { return own_; }
  /// Returns the largest |coordinate| of x in any step until now, which bounds the rounding of x.
  double largest() const { return largest_; }

  std::size_t size() const override { return inner_->size(); }
  Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    return inner_->vector(name, neighbor);
  }
  double& scalar(std::string_view name, std::optional<std::uint32_t> neighbor) override {
    return inner_->scalar(name, neighbor);
  }
  double rate() const override { return inner_->rate(); }
  void gradient() override { inner_->gradient(); }
  bool freeze() override { return inner_->freeze(); }
  double loss() const override { return inner_->loss(); }
  std::vector<Slice> draw(std::uint32_t parts) override { return inner_->draw(parts); }
  std::optional<double> gradient_over(const Buffer& samples) override {
    return inner_->gradient_over(samples);
  }
  void forward(std::uint32_t k, Vector at, const Buffer* in, Buffer* out) override {
    inner_->forward(k, at, in, out);
  }
  double backward(std::uint32_t k, Vector at, Buffer* in, const Buffer* out) override {
    return inner_->backward(k, at, in, out);
  }
  void step() override;
  void revise(Vector missed) override;
  void descend(const Descent& descent) override;
  NotFinite mix(Range r, const Flows& flows) override;
  /// Gives the same bits as one pass, because the mixed x is stepped with its last piece.
  NotFinite mix_and_step(Range r, const Flows& flows) override;
  bool add_flow(Vector v, Range r, float w, const Buffer& theirs, const Buffer& ours) override {
    return inner_->add_flow(v, r, w, theirs, ours);
  }
  void snapshot(Vector v, Range r, Buffer& out) const override { inner_->snapshot(v, r, out); }
  void load(Vector v, Range r, const Buffer& in) override;
  void add(Vector v, Range r, const Buffer& in) override;
  void scale(Vector v, float factor) override;
  void axpby(float a, Vector from, float b, Vector to, Range r) override;
  double dot(Vector u, Vector v, Range r) const override { return inner_->dot(u, v, r); }
  void encode(const Codec& codec, Vector v, Range r, Buffer& out) const override {
    inner_->encode(codec, v, r, out);
  }
  bool decode(const Codec& codec, Vector v, Range r, const Buffer& in) override;
  bool finite() const override { return inner_->finite(); }
  void evaluate() override { inner_->evaluate(); }
  Evaluation evaluation() const override { return inner_->evaluation(); }
  bool is_lent() const override { return inner_->is_lent(); }
  void prepare() override { inner_->prepare(); }
  double gradient_flops() const override { return inner_->gradient_flops(); }
  void save(StateWriter& out) const override { inner_->save(out); }
  /// Restarts the account from the restored x.
  void restore(StateReader& in) override;
  void skip_to(GradientStep t) override { inner_->skip_to(t); }

  std::vector<double> x() const;
  /// Makes an element of x NaN.
  void poison();

 private:
  /// Calls `write`, which writes to v; counts it as a step if v is x.
  void book(Vector v, const std::function<void()>& write);

  std::unique_ptr<Replica> inner_;
  void look(const std::vector<double>& x);

  std::vector<double> own_;
  double largest_ = 0;
};

}  // namespace gv
