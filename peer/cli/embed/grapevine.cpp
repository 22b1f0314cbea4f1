#include "peer/cli/embed/grapevine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "peer/record/observer.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/runtime/tcp_peer.h"
#include "peer/sim/simulation.h"
#include "peer/wire/seal/tls_context.h"
#include "peer/wire/socket/named_socket.h"

namespace grapevine {

struct Fleet::Made {
  explicit Made(gv::Fleet fleet) : assembly(std::move(fleet)) {}
  gv::Assembly assembly;
};

namespace {

std::shared_ptr<const gv::TlsContext> keys_of(const std::string& key_file, gv::PeerId id) {
  return key_file.empty() ? nullptr : gv::context_of_file(key_file, id);
}

Evaluation told(const gv::FleetRecord& record) {
  return {.round = record.round,
          .seconds = gv::in_seconds(record.time),
          .loss = record.mean.loss,
          .accuracy = record.mean.accuracy,
          .consensus = record.consensus};
}

std::function<void(const gv::FleetRecord&)> teller(const OnEvaluation& on_evaluation) {
  return [on_evaluation](const gv::FleetRecord& record) {
    if (on_evaluation) on_evaluation(told(record));
  };
}

Outcome outcome_of(const gv::Observer& observer) {
  if (!observer.summary()) throw std::runtime_error("no peer of the fleet finished");
  return {.end = told(*observer.summary()),
          .mean_model = observer.mean_model(),
          .params_hash = observer.params_hash()};
}

/// Copies the model of a report, because a peer's buffers return to its own pool on its own loop.
gv::Report kept(gv::Report report) {
  const auto copy = std::make_shared<gv::Buffer>(report.model->size());
  std::ranges::copy(report.model->floats(), copy->floats().begin());
  report.model = copy;
  return report;
}

/// Runs all peers of a fleet in threads of this process.
class Loopback {
 public:
  Loopback(const gv::Assembly& fleet, const OnEvaluation& on_evaluation)
      : observer_(fleet.fleet.size(), fleet.evaluator(), teller(on_evaluation)) {
    const gv::PeerId n = fleet.fleet.size();
    std::vector<gv::PeerKeys> keys;
    if (fleet.fleet.security.mode == gv::SecurityMode::tls) keys = gv::make_keys(n);
    const auto token = std::make_shared<gv::RunToken>();
    for (gv::PeerId i = 0; i < n; ++i) {
      gv::TcpPeerOptions options;
      options.on_report = [this](gv::Report report) { take(std::move(report)); };
      options.log = [](const std::string&) {};
      options.listen_address = gv::loopback_host();
      if (!keys.empty()) options.keys = std::make_shared<gv::TlsContext>(keys[i]);
      peers_.push_back(std::make_unique<gv::TcpPeer>(fleet, i, std::move(options)));
      peers_.back()->use_token(token);
      addresses_.push_back({i, gv::loopback_host(), peers_.back()->listen()});
    }
  }

  /// Runs all peers to their end. The first failure of a peer stops the others and is thrown.
  Outcome run() {
    std::vector<std::thread> threads;
    try {
      for (const auto& peer : peers_) threads.emplace_back([this, &peer] { live(*peer); });
    } catch (const std::system_error&) {
      stop_all();  // no thread for the next one
    }
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
    return outcome_of(observer_);
  }

 private:
  void take(gv::Report report) {
    report = kept(std::move(report));
    const std::lock_guard lock(mutex_);
    observer_.take(std::move(report),
                   std::chrono::duration_cast<gv::Time>(std::chrono::steady_clock::now() - begin_));
  }

  void live(gv::TcpPeer& peer) {
    try {
      peer.run(addresses_);
    } catch (...) {
      stop_all();
    }
  }

  /// Keeps the current exception if it is the first, and stops all peers.
  void stop_all() {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    for (const auto& peer : peers_) peer->stop();
  }

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  gv::Observer observer_;
  std::vector<std::unique_ptr<gv::TcpPeer>> peers_;
  std::vector<gv::PeerAddress> addresses_;
  std::exception_ptr failure_;
};

}  // namespace

Fleet::Fleet(const std::string& yaml) {
  try {
    made_ = std::make_shared<const Made>(gv::read_fleet_text(yaml));
  } catch (const gv::FleetError& wrong) {
    throw std::invalid_argument(wrong.what());
  }
}

std::uint32_t Fleet::peers() const {
  return made_->assembly.fleet.size();
}

std::size_t Fleet::parameters() const {
  return made_->assembly.dimension;
}

Outcome Fleet::simulate(const OnEvaluation& on_evaluation) const {
  const gv::Assembly& fleet = made_->assembly;
  gv::Observer observer(fleet.fleet.size(), fleet.evaluator(), teller(on_evaluation));
  gv::simulate(fleet, observer, {});
  return outcome_of(observer);
}

Outcome Fleet::run_on_loopback(const OnEvaluation& on_evaluation) const {
  return Loopback(made_->assembly, on_evaluation).run();
}

struct Peer::Life {
  std::shared_ptr<const Fleet::Made> fleet;
  gv::PeerId id = 0;
  std::string key_file;
  std::unique_ptr<gv::TcpPeer> peer{};
  std::vector<float> model{};
};

Peer::Peer(const Fleet& fleet, std::uint32_t id, const std::string& key_file)
    : life_(std::make_unique<Life>(Life{.fleet = fleet.made_, .id = id, .key_file = key_file})) {
  if (id >= fleet.peers())
    throw std::invalid_argument(
        fmt::format("peer {}: the fleet has peers 0 .. {}", id, fleet.peers() - 1));
}

Peer::~Peer() = default;

std::uint16_t Peer::listen(const std::string& address, std::uint16_t port) {
  gv::TcpPeerOptions options;
  options.listen_address = address;
  options.listen_port = port;
  options.keys = keys_of(life_->key_file, life_->id);
  options.log = [](const std::string&) {};
  options.on_report = [life = life_.get()](const gv::Report& report) {
    if (report.last)
      life->model.assign(report.model->floats().begin(), report.model->floats().end());
  };
  life_->peer =
      std::make_unique<gv::TcpPeer>(life_->fleet->assembly, life_->id, std::move(options));
  return life_->peer->listen();
}

std::vector<float> Peer::run(const std::vector<Address>& all) {
  if (!life_->peer) throw std::logic_error("Peer::run comes after Peer::listen");
  std::vector<gv::PeerAddress> addresses;
  for (const Address& address : all)
    addresses.push_back({address.peer, address.host, address.port});
  life_->peer->run(addresses);
  return life_->model;
}

void Peer::stop() {
  if (life_->peer) life_->peer->stop();
}

}  // namespace grapevine
