#pragma once

#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "optim/buffer.h"
#include "optim/codec/codec.h"
#include "optim/models/objective.h"
#include "optim/range.h"
#include "optim/state.h"
#include "optim/train/optimizer.h"

namespace gv {

/// The operations of a replica whose device works concurrently with the caller. They are called
/// from the home lane like all others of the replica, except end_gradient().
class Overlap {
 public:
  virtual ~Overlap() = default;
  /// Begins Replica::gradient() at the current x, and returns. Until end_gradient() has returned,
  /// no other gradient may begin, and nothing may be evaluated or saved; vectors may be read and
  /// changed as usual, with the effect that they would have after the gradient.
  virtual void begin_gradient() = 0;
  /// Waits until g is complete, and updates loss(). May be called from another thread than the
  /// others, and during their calls.
  virtual void end_gradient() = 0;
  /// Copies a vector that will be mixed in soon to the device, if there is room; does not hold it
  /// after the call. The caller passes it to mix as if it had not been staged.
  virtual void stage(Payload piece) = 0;
};

/// Neighbours' vectors (or equal ranges of their vectors) with their weights, in ascending order of
/// peer: the order fixes the bits.
struct Flows {
  std::vector<Payload> vectors;  ///< each has as many floats as the range to mix
  std::vector<float> weights;    ///< W_ij
  /// Vectors of this replica as sent to the other end of each flow, if x may have changed since: as
  /// many floats, null for the current x. Empty for x in all flows.
  std::vector<Payload> ours{};
};

/// Indices of the flows whose vectors held values that are not finite, ascending.
using NotFinite = std::vector<std::size_t>;

/// One of a replica's vectors of length d: x or g, which always exist, or one made by name.
struct Vector {
  std::uint32_t index = 0;
  static const Vector x, g;
  auto operator<=>(const Vector&) const = default;
};
inline constexpr Vector Vector::x{0};
inline constexpr Vector Vector::g{1};

/// One peer's trainable model on one device, and the only place that touches vectors of length d.
/// Every call may be made from the arithmetic thread; two never overlap, except as freeze() and
/// Overlap allow. Results of a gradient or an evaluation are read after its job has ended: if a
/// program computes it (program_replica.h), the job ends later than the call.
class Replica {
 public:
  virtual ~Replica() = default;
  virtual std::size_t size() const = 0;  ///< d

  /// Returns the vector of this name, zero if it is new; it is on the device, and part of save()
  /// and restore(). The names are the method's own; with a neighbour's id there is one for each
  /// neighbour.
  virtual Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor = {}) = 0;
  /// Returns the scalar of this name, likewise. The reference is valid as long as the replica.
  virtual double& scalar(std::string_view name, std::optional<std::uint32_t> neighbor = {}) = 0;

  /// Returns the next minibatch in this number of parts, packed, for gradient_over() here or at
  /// another peer: see Objective::draw. On the CPU.
  virtual std::vector<Slice> draw(std::uint32_t parts) {
    static_cast<void>(parts);
    throw std::logic_error("the samples of this replica cannot travel");
  }
  /// g <- gradient at x over such samples; returns its loss. None if they are invalid; g is then
  /// unchanged.
  virtual std::optional<double> gradient_over(const Buffer& samples) {
    static_cast<void>(samples);
    throw std::logic_error("this replica takes no samples of others");
  }
  // The two operations of a stage in a chain's gradients; on the CPU.
  /// Passes microbatch k of the next minibatch forward through this stage, with weights in vector
  /// `at`: see Objective::forward. `in` and `out`: values at the cuts before and after; or null.
  virtual void forward(std::uint32_t k, Vector at, const Buffer* in, Buffer* out) {
    static_cast<void>(k), static_cast<void>(at), static_cast<void>(in), static_cast<void>(out);
    throw std::logic_error("this replica is no stage of a chain");
  }
  /// g <- gradient over microbatch k, at the weights of its forward pass; in <- gradient by the
  /// input, computed from `out`, the gradient by the output. Returns its loss, at the last stage.
  virtual double backward(std::uint32_t k, Vector at, Buffer* in, const Buffer* out) {
    static_cast<void>(k), static_cast<void>(at), static_cast<void>(in), static_cast<void>(out);
    throw std::logic_error("this replica is no stage of a chain");
  }
  virtual void gradient() = 0;  ///< g <- gradient at x on the next minibatch
  /// Copies x: the next gradient() or gradient_over() is computed at the copy, and may run in
  /// another lane than the other calls, which may read and change x during it. Until it has ended,
  /// draws, steps, evaluations and saves are forbidden. Returns false if this replica cannot: then
  /// x must not change during a gradient.
  virtual bool freeze() { return false; }
  virtual void step() = 0;  ///< x <- x - gamma direction(g)
  /// Steps by a gradient that was computed before others were applied, whose sum is `missed`: see
  /// Optimizer::revise. On the CPU, which all servers use.
  virtual void revise(Vector missed) {
    static_cast<void>(missed);
    throw std::logic_error("this replica revises nothing");
  }
  /// Takes descent.steps steps of plain SGD by threads that share x (Objective::descend), at the
  /// own rate of the first step; loss() is the mean loss. `descent` has neither batch nor rate yet.
  /// On the CPU, for models that support it.
  virtual void descend(const Descent& descent) {
    static_cast<void>(descent);
    throw std::logic_error("threads cannot share this replica's x");
  }
  virtual double rate() const = 0;  ///< gamma of the next step: LearningRate::rate
  /// gradient(), then step(): one piece of work if nothing comes between.
  virtual void gradient_and_step() {
    gradient();
    step();
  }
  /// Returns the loss of the last gradient(), gradient_and_step() or descend() whose job has ended;
  /// 0 before.
  virtual double loss() const = 0;
  /// x[r] <- x[r] + sum_j w_j (x_j - x[r]): averaging written as flows, so that opposite ends apply
  /// opposite flows. Elements whose flow is not finite are skipped at both ends, which see the same
  /// two values.
  virtual NotFinite mix(Range r, const Flows& flows) = 0;
  /// x[r] <- x[r] + sum_j w_j (x_j - x[r]) - gamma direction(g)[r], one pass over memory. The
  /// pieces of one step come in ascending order; the one at 0 begins it.
  virtual NotFinite mix_and_step(Range r, const Flows& flows) = 0;

  /// v[r] <- v[r] + w (theirs - ours): one flow, against the vector that was sent. Returns false if
  /// theirs had values that are not finite.
  virtual bool add_flow(Vector v, Range r, float w, const Buffer& theirs, const Buffer& ours) = 0;

  virtual void snapshot(Vector v,
                        Range r,
                        Buffer& out) const = 0;  ///< out <- v[r]; out.size() == 4 r.count
  virtual void load(Vector v, Range r, const Buffer& in) = 0;  ///< v[r] <- in
  virtual void add(Vector v, Range r, const Buffer& in) = 0;   ///< v[r] <- v[r] + in
  /// v <- factor v; exactly 0 if the factor is 0, even for values that are not finite.
  virtual void scale(Vector v, float factor) = 0;
  /// to[r] <- a from[r] + b to[r]; exactly a from[r] if b is 0. from and to may be the same.
  virtual void axpby(float a, Vector from, float b, Vector to, Range r) = 0;
  /// sum_k u[k] v[k] over r, with the bits of optim/host/dot.h on every device.
  virtual double dot(Vector u, Vector v, Range r) const = 0;
  /// ||v[r]||_2, without overflow.
  double norm(Vector v, Range r) const { return std::sqrt(dot(v, v, r)); }

  /// out <- v[r] encoded, with the bytes of optim/codec/codec.h on every device. out.size() ==
  /// codec.bytes(r.count)
  virtual void encode(const Codec& codec, Vector v, Range r, Buffer& out) const = 0;
  /// v[r] <- in decoded. Returns false if `in` is not an encoding of r.count values; v is then
  /// unchanged.
  virtual bool decode(const Codec& codec, Vector v, Range r, const Buffer& in) = 0;

  virtual bool finite() const = 0;            ///< true if every element of x is
  virtual void evaluate() = 0;                ///< evaluates x on the test set
  virtual Evaluation evaluation() const = 0;  ///< result of the last evaluate() whose job has ended

  /// Returns whether x is shared with another owner that may write it between two jobs. Flows are
  /// then against the half that was sent.
  virtual bool is_lent() const { return false; }
  /// Prepares save(), which follows in a job of its own, if is_lent().
  virtual void prepare() {}

  /// Returns its concurrent operations; null if each call ends before the next.
  virtual Overlap* overlap() { return nullptr; }

  virtual double gradient_flops() const = 0;  ///< work of one gradient(), for the simulator's clock
  /// Returns whether work of `flops` ends so soon that the network loop may do it itself. On a
  /// device never: each call waits for copies to or from it.
  virtual bool runs_inline(double flops) const {
    static_cast<void>(flops);
    return false;
  }

  /// Saves the state to resume training from, between two rounds: x, the optimizer, the position in
  /// the minibatches, and named vectors and scalars.
  virtual void save(StateWriter& out) const = 0;
  /// Restores the state of an equally made replica. Throws std::runtime_error for other states;
  /// this replica is then half restored and must not be used.
  virtual void restore(StateReader& in) = 0;
  /// Continues the schedule of the rate as if `t` gradient steps had been done.
  virtual void skip_to(GradientStep t) = 0;

  /// Returns the best memory for buffers that are copied to and from its vectors; null for any. It
  /// outlives the replica with the buffers in it.
  virtual std::shared_ptr<BufferMemory> buffer_memory() const { return nullptr; }
};

class Replica;
struct Vector;

/// The state of a method besides x and g: the replica's vector of each name, and scalars. The
/// replicas of all devices have one, so that their training states have one format.
class NamedState {
 public:
  /// Returns the vector of this name; a new name gets the next index.
  Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor);
  /// Returns the scalar of this name, 0 if it is new. The reference is valid as long as this
  /// object.
  double& scalar(std::string_view name, std::optional<std::uint32_t> neighbor);

  /// Writes nothing if there are no names. So states from before the first name can still be read,
  /// and the names must be last in a state.
  void save(StateWriter& out, const Replica& replica) const;
  /// Restores the names. Names that are not in the state become zero again; names that are not
  /// known yet are made. Throws std::runtime_error like StateReader.
  void restore(StateReader& in, Replica& replica);

 private:
  /// The name, with the neighbour's id if there is one for each neighbour.
  using Name = std::pair<std::string, std::optional<std::uint32_t>>;

  static void save_name(StateWriter& out, const Name& name);
  static Name restore_name(StateReader& in);

  std::map<Name, std::uint32_t> vectors_;  ///< index by name
  std::map<Name, double> scalars_;
};

}  // namespace gv
