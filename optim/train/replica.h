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
#include "optim/codec.h"
#include "optim/models/objective.h"
#include "optim/range.h"
#include "optim/state.h"
#include "optim/train/optimizer.h"

namespace gv {

/// What a replica does behind its caller's back, where its device has hands of its own. The calls
/// come from the home lane as all others of the replica, but for end_gradient().
class Overlap {
 public:
  virtual ~Overlap() = default;
  /// Begins Replica::gradient() at x as it is, and returns. Until end_gradient() has returned no
  /// other gradient begins, nothing is evaluated and nothing is saved; vectors may be read and
  /// changed as ever, with the effect that they would have behind the gradient.
  virtual void begin_gradient() = 0;
  /// Returns when g is there, and loss() tells of it. It may be called from another thread than
  /// the others, and while they are.
  virtual void end_gradient() = 0;
  /// This vector is soon to be mixed in: it goes to the device already, where there is room, and is
  /// not held beyond the call. Who mixes it hands it in as if it had not been staged.
  virtual void stage(Payload piece) = 0;
};

/// Neighbours' vectors (or the same piece of each) with their weights, in ascending order of peer:
/// the order fixes the bits.
struct Flows {
  std::vector<Payload> vectors;  ///< each of as many floats as the range they are mixed into
  std::vector<float> weights;    ///< W_ij
  /// The vectors that the other end of each flow has of this replica, where x may have changed
  /// since it was sent: as many floats, null for x as it is. Empty: x for all of them.
  std::vector<Payload> ours{};
};

/// Indices of the flows whose vectors held values that are not finite, ascending.
using NotFinite = std::vector<std::size_t>;

/// One of a replica's vectors of length d: x and g, which are always there, or one that was made by
/// name.
struct Vector {
  std::uint32_t index = 0;
  static const Vector x, g;
  auto operator<=>(const Vector&) const = default;
};
inline constexpr Vector Vector::x{0};
inline constexpr Vector Vector::g{1};

/// One peer's trainable model on one device, and the only place where vectors of length d are
/// touched. Every call may be made from the arithmetic thread; never two at a time, but for what
/// freeze() and Overlap allow. What a
/// gradient or an evaluation found is asked for when its job has ended: where a program computes
/// it (program_replica.h), the job ends later than the call.
class Replica {
 public:
  virtual ~Replica() = default;
  virtual std::size_t size() const = 0;  ///< d

  /// The vector of this name, zero when it is new; on the device, and part of save() and restore().
  /// The names are the method's own; with a neighbour's id there is one for each neighbour.
  virtual Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor = {}) = 0;
  /// Returns the number of this name, likewise. The reference holds as long as the replica.
  virtual double& scalar(std::string_view name, std::optional<std::uint32_t> neighbor = {}) = 0;

  /// The next minibatch in so many parts, packed, for gradient_over() here or at another peer: see
  /// Objective::draw. On the CPU.
  virtual std::vector<Slice> draw(std::uint32_t parts) {
    static_cast<void>(parts);
    throw std::logic_error("the samples of this replica cannot travel");
  }
  /// g <- gradient at x over such samples; returns its loss. Nothing: they are none; g is as it
  /// was.
  virtual std::optional<double> gradient_over(const Buffer& samples) {
    static_cast<void>(samples);
    throw std::logic_error("this replica takes no samples of others");
  }
  // The two verbs of a stage, of which a chain's gradients are made; on the CPU.
  /// Microbatch k of the next minibatch goes through this stage, whose weights are vector `at`: see
  /// Objective::forward. What crosses the cuts before and behind it; null where there is none.
  virtual void forward(std::uint32_t k, Vector at, const Buffer* in, Buffer* out) {
    static_cast<void>(k), static_cast<void>(at), static_cast<void>(in), static_cast<void>(out);
    throw std::logic_error("this replica is no stage of a chain");
  }
  /// g <- the gradient over microbatch k, at the weights that it went forward with; in <- the one
  /// by what came in, from `out`, the one by what went out. Returns its loss, at the last stage.
  virtual double backward(std::uint32_t k, Vector at, Buffer* in, const Buffer* out) {
    static_cast<void>(k), static_cast<void>(at), static_cast<void>(in), static_cast<void>(out);
    throw std::logic_error("this replica is no stage of a chain");
  }
  virtual void gradient() = 0;  ///< g <- gradient at x on the next minibatch
  /// Copies x: the next gradient() or gradient_over() is taken at the copy, and may run in another
  /// lane than the other calls, which may read and change x meanwhile. Until it has ended nothing
  /// is drawn, stepped, evaluated or saved. Returns false if this replica cannot: then x must stand
  /// still during a gradient.
  virtual bool freeze() { return false; }
  virtual void step() = 0;  ///< x <- x - gamma direction(g)
  /// step() of a gradient that was taken before others were applied, whose sum is `missed`: see
  /// Optimizer::revise. On the CPU, where servers are.
  virtual void revise(Vector missed) {
    static_cast<void>(missed);
    throw std::logic_error("this replica revises nothing");
  }
  /// Takes so many steps of plain SGD by threads that share x (Objective::descend), at the own rate
  /// of the first of them; loss() is their mean. `descent` has neither batch nor rate yet. On the
  /// CPU, for the models that can.
  virtual void descend(const Descent& descent) {
    static_cast<void>(descent);
    throw std::logic_error("threads cannot share this replica's x");
  }
  virtual double rate() const = 0;  ///< gamma of the step that comes: LearningRate::rate
  /// gradient(), then step(): one piece of work where nothing comes between.
  virtual void gradient_and_step() {
    gradient();
    step();
  }
  /// Tells of the last gradient(), gradient_and_step() or descend() whose job has ended; 0 before.
  virtual double loss() const = 0;
  /// x[r] <- x[r] + sum_j w_j (x_j - x[r]): averaging written as flows, so that opposite ends apply
  /// opposite flows. An element whose flow is not finite flows nowhere, at either end: both ends
  /// see the same two values.
  virtual NotFinite mix(Range r, const Flows& flows) = 0;
  /// x[r] <- x[r] + sum_j w_j (x_j - x[r]) - gamma direction(g)[r], one pass over memory. The
  /// pieces of one step come in ascending order; the one at 0 begins it.
  virtual NotFinite mix_and_step(Range r, const Flows& flows) = 0;

  /// v[r] <- v[r] + w (theirs - ours): one flow, against the vector that was sent. False: theirs
  /// held values that are not finite.
  virtual bool add_flow(Vector v, Range r, float w, const Buffer& theirs, const Buffer& ours) = 0;

  virtual void snapshot(Vector v,
                        Range r,
                        Buffer& out) const = 0;  ///< out <- v[r]; out.size() == 4 r.count
  virtual void load(Vector v, Range r, const Buffer& in) = 0;  ///< v[r] <- in
  virtual void add(Vector v, Range r, const Buffer& in) = 0;   ///< v[r] <- v[r] + in
  /// v <- factor v, and 0 where the factor is 0, whatever stood there.
  virtual void scale(Vector v, float factor) = 0;
  /// to[r] <- a from[r] + b to[r], and a from[r] where b is 0; from and to may be the same.
  virtual void axpby(float a, Vector from, float b, Vector to, Range r) = 0;
  /// sum_k u[k] v[k] over r: the bits of optim/dot.h, on every device.
  virtual double dot(Vector u, Vector v, Range r) const = 0;
  /// ||v[r]||_2, without overflow.
  double norm(Vector v, Range r) const { return std::sqrt(dot(v, v, r)); }

  /// out <- v[r] encoded: the bytes of optim/codec.h, on every device.
  /// out.size() == codec.bytes(r.count)
  virtual void encode(const Codec& codec, Vector v, Range r, Buffer& out) const = 0;
  /// v[r] <- in decoded. False: `in` is no encoding of so many; v is as it was.
  virtual bool decode(const Codec& codec, Vector v, Range r, const Buffer& in) = 0;

  virtual bool finite() const = 0;            ///< every element of x is
  virtual void evaluate() = 0;                ///< x on the test set
  virtual Evaluation evaluation() const = 0;  ///< of the last evaluate() whose job has ended

  /// Returns whether x is somebody else's as well, who may write it between two jobs. Flows are
  /// then against the half that was sent.
  virtual bool is_lent() const { return false; }
  /// Gets ready for save(), which comes in a job of its own, where is_lent().
  virtual void prepare() {}

  /// Returns what it does behind its caller's back; null: nothing, each call ends before the next.
  virtual Overlap* overlap() { return nullptr; }

  virtual double gradient_flops() const = 0;  ///< of one gradient(); for the simulator's clock
  /// Returns whether work of so many flops ends so soon that the network loop may do it itself. On
  /// a device no work does: each call waits for copies to or from it.
  virtual bool runs_inline(double flops) const {
    static_cast<void>(flops);
    return false;
  }

  /// Saves what training goes on from, between two rounds: x, the optimizer, where the minibatches
  /// stand, what has a name.
  virtual void save(StateWriter& out) const = 0;
  /// Restores what an equally made replica saved. Throws std::runtime_error for anything else; this
  /// replica is then half restored and no longer to be used.
  virtual void restore(StateReader& in) = 0;
  /// The schedule of the rate goes on as if `t` gradient steps had been done.
  virtual void skip_to(GradientStep t) = 0;

  /// Returns where buffers lie best that are copied to and from its vectors; null: anywhere. It
  /// outlives the replica with the buffers in it.
  virtual std::shared_ptr<BufferMemory> buffer_memory() const { return nullptr; }
};

class Replica;
struct Vector;

/// The state that a method keeps beside x and g: which of a replica's vectors a name means, and
/// scalars. The replicas of all devices hold one, so that their training states are alike.
class NamedState {
 public:
  /// The vector of this name; a new name takes the next index.
  Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor);
  /// The number of this name, 0 when it is new. The reference holds as long as this object.
  double& scalar(std::string_view name, std::optional<std::uint32_t> neighbor);

  /// Writes nothing where nothing has a name. So a state from before the first name is still read,
  /// and the names must stand last in it.
  void save(StateWriter& out, const Replica& replica) const;
  /// Names that are not in the state become zero again; names that nobody has asked for yet are
  /// made. Throws std::runtime_error as StateReader does.
  void restore(StateReader& in, Replica& replica);

 private:
  /// The name, with the neighbour's id where there is one of it for each neighbour.
  using Name = std::pair<std::string, std::optional<std::uint32_t>>;

  static void save_name(StateWriter& out, const Name& name);
  static Name restore_name(StateReader& in);

  std::map<Name, std::uint32_t> vectors_;  ///< their indices
  std::map<Name, double> scalars_;
};

}  // namespace gv
