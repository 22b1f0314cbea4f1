#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// The C++ interface for programs that contain Grapevine (`find_package(Grapevine)`). This header
// needs only the standard library, and it is the only one that is installed.

namespace grapevine {

/// State of the fleet at one evaluation.
struct Evaluation {
  std::uint64_t round = 0;         ///< completed rounds
  double seconds = 0;              ///< since training began; virtual in Fleet::simulate
  double loss = 0;                 ///< loss of the mean model on the test set
  std::optional<double> accuracy;  ///< its accuracy, 0 to 1; nothing if there are no classes
  double consensus = 0;            ///< mean squared distance of the peers' models to the mean model
};

/// Result of a fleet's training.
struct Outcome {
  Evaluation end;
  std::vector<float> mean_model;  ///< all parameters, in the order of the saved model's tensors
  std::string params_hash;        ///< XXH3-128 of all peers' models, as `grapevine run` prints it
};

/// Address at which a peer listens.
struct Address {
  std::uint32_t peer = 0;
  std::string host;
  std::uint16_t port = 0;
};

using OnEvaluation = std::function<void(const Evaluation&)>;

/// A fleet as described by a fleet file, with its data loaded and its graph built. Copies share it.
class Fleet {
 public:
  /// `yaml`: text of a fleet file; relative paths in it start at the working directory. Throws
  /// std::invalid_argument with all errors in it, line by line.
  explicit Fleet(const std::string& yaml);

  std::uint32_t peers() const;
  std::size_t parameters() const;

  /// Runs all peers in virtual time, on all cores. Throws std::runtime_error if it cannot continue.
  Outcome simulate(const OnEvaluation& on_evaluation = {}) const;
  /// Runs all peers in this process, each with its own threads, over TCP on loopback. With a method
  /// that waits for its neighbours, the result has the same bits as that of simulate().
  /// `on_evaluation` is called by one thread at a time. Throws std::runtime_error like simulate().
  Outcome run_on_loopback(const OnEvaluation& on_evaluation = {}) const;

 private:
  friend class Peer;
  struct Made;
  std::shared_ptr<const Made> made_;
};

/// One peer of a fleet, in this process; the others may be anywhere. Refuses peers of other fleets.
class Peer {
 public:
  /// `id`: 0 .. fleet.peers() - 1; other numbers throw std::invalid_argument. `key_file`: the
  /// peer's file from `grapevine keygen`. Without a key, if the fleet's `security` is auto, the
  /// peer connects on loopback only.
  Peer(const Fleet& fleet, std::uint32_t id, const std::string& key_file = "");
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Binds to an address of this machine; port 0 takes any free one. Returns the port. Throws
  /// std::runtime_error if the port is taken.
  std::uint16_t listen(const std::string& address = "127.0.0.1", std::uint16_t port = 0);
  /// Waits at most 30 seconds for the neighbours among `all`, trains to the end and returns the
  /// peer's own model. Call it once, after listen(). Throws std::runtime_error if it fails.
  std::vector<float> run(const std::vector<Address>& all);
  /// Makes run() leave after the current round; from any thread while it runs.
  void stop();

 private:
  struct Life;
  std::unique_ptr<Life> life_;
};

}  // namespace grapevine
