#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Grapevine in a program of one's own: what `find_package(Grapevine)` gives. This header needs
// nothing but the standard library, and it is the only one that is installed.

namespace grapevine {

/// The fleet at one evaluation.
struct Evaluation {
  std::uint64_t round = 0;         ///< rounds that are done
  double seconds = 0;              ///< since training began; virtual in Fleet::simulate
  double loss = 0;                 ///< of the mean model, on the test set
  std::optional<double> accuracy;  ///< likewise, 0 to 1; nothing where there are no classes
  double consensus = 0;            ///< mean squared distance of the peers' models to the mean model
};

/// The end of a fleet's training.
struct Outcome {
  Evaluation end;
  std::vector<float> mean_model;  ///< all parameters, in the order of the saved model's tensors
  std::string params_hash;        ///< XXH3-128 of all peers' models, as `grapevine run` prints it
};

/// The address at which a peer listens.
struct Address {
  std::uint32_t peer = 0;
  std::string host;
  std::uint16_t port = 0;
};

using OnEvaluation = std::function<void(const Evaluation&)>;

/// A fleet as a fleet file describes it, with its data loaded and its graph built. Copies share it.
class Fleet {
 public:
  /// `yaml`: the text of a fleet file; relative paths in it are seen from the working directory.
  /// Throws std::invalid_argument with all that is wrong with it, line by line.
  explicit Fleet(const std::string& yaml);

  std::uint32_t peers() const;
  std::size_t parameters() const;

  /// Runs all peers in virtual time, on all cores. Throws std::runtime_error where it cannot go on.
  Outcome simulate(const OnEvaluation& on_evaluation = {}) const;
  /// Runs all peers in this process, each with threads of its own, over TCP on loopback. With a
  /// method that waits for its neighbours it ends with the bits of simulate(). `on_evaluation` is
  /// called by one thread at a time. Throws std::runtime_error likewise.
  Outcome run_on_loopback(const OnEvaluation& on_evaluation = {}) const;

 private:
  friend class Peer;
  struct Made;
  std::shared_ptr<const Made> made_;
};

/// One peer of a fleet, in this process; the others are anywhere. Peers of other fleets are
/// refused.
class Peer {
 public:
  /// `id`: 0 .. fleet.peers() - 1; other numbers throw std::invalid_argument.
  /// `key_file`: what `grapevine keygen` made for it. Without one it speaks to loopback alone,
  /// where the fleet's `security` is auto.
  Peer(const Fleet& fleet, std::uint32_t id, const std::string& key_file = "");
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Binds to an address of this machine; 0 takes any free port. Returns the port. Throws
  /// std::runtime_error when it is taken.
  std::uint16_t listen(const std::string& address = "127.0.0.1", std::uint16_t port = 0);
  /// Waits 30 seconds at most for the neighbours among `all`, trains to the end, and returns its
  /// own model; after listen(), once. Throws std::runtime_error where it cannot.
  std::vector<float> run(const std::vector<Address>& all);
  /// Makes run() leave after this round; from any thread while it runs.
  void stop();

 private:
  struct Life;
  std::unique_ptr<Life> life_;
};

}  // namespace grapevine
