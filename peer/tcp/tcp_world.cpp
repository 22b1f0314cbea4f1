#include "peer/tcp/tcp_world.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/steady_timer.hpp>
#include <asio/version.hpp>
#include <fmt/format.h>

#include "optim/check.h"
#include "peer/tcp/tcp_world_impl.h"

namespace gv {
namespace {

/// An emulated card that was idle for less was waiting for this host, not for the network: timers,
/// wake-ups and copies take this long for each frame (measured: 0.1 to 0.3 ms with two peers per
/// core). Kernels give their token buckets a burst for the same reason.
constexpr Time host_lag{std::chrono::microseconds(100)};

/// What the job threw; empty: nothing.
std::string failure_of(const std::function<void()>& job) {
  try {
    job();
    return "";
  } catch (const std::exception& e) {
    const std::string what = e.what();
    return what.empty() ? "the arithmetic failed" : what;
  }
}

}  // namespace

TcpWorldImpl::TcpWorldImpl(TcpOptions options) : options_(std::move(options)), acceptor_(io_) {
  GV_CHECK(options_.hello.incarnation != 0, "0 means: not met yet");
  if (options_.emulate)
    shaper_.emplace(*options_.emulate, options_.hello.peer, options_.emulation_seed, host_lag);
}

void TcpWorldImpl::run(const std::vector<PeerAddress>& addresses,
                       Peer& peer,
                       std::function<void()> begin) {
  peer_ = &peer;
  begin_ = std::move(begin);
  const auto guard = asio::make_work_guard(io_);
  asio::co_spawn(io_, accept_loop(), asio::detached);
  for (const PeerId id : options_.links) {
    Edge& edge = edges_[id];
    edge.peer = id;
    const auto at = std::ranges::find(addresses, id, &PeerAddress::peer);
    if (at != addresses.end()) edge.address = *at;
    if (id < options_.hello.peer) continue;
    if (at == addresses.end())
      throw std::runtime_error(fmt::format("no address of peer {} is known", id));
    start_dialling(id);
  }
  after(options_.connect_deadline, [this] {
    if (!begun_) fail("not connected in time: " + missing_links());
  });
  next_beat_ = Clock::now() + options_.heartbeat;
  beat();
  begin_when_complete();
  if (options_.successors) after(join_within, [this] { begin_with_some(); });
  io_.run();
  if (!compute_failure_.empty()) throw ComputeError(compute_failure_);
  if (!failure_.empty()) throw std::runtime_error(failure_);
}

void TcpWorldImpl::send(PeerId to, Message message) {
  Edge& edge = edges_.at(to);
  sent_bytes_ += wire::frame_bytes(message);
  transmit(edge, edge.session.send(std::move(message)));
}

void TcpWorldImpl::transmit(Edge& edge, const Session::Numbered& numbered) {
  if (!edge.linked()) return;
  edge.ack_told = edge.session.received();
  const Payload& payload = numbered.message.payload;
  put(edge,
      {wire::encode(
           numbered.message, {.number = numbered.number, .ack = edge.ack_told}, hash_of(payload)),
       payload});
}

void TcpWorldImpl::put(Edge& edge, Outgoing frame) {
  if (shaper_) frame.due = began_ + shaper_->arrival(edge.peer, frame.size(), now());
  edge.link->send(std::move(frame));
}

/// One payload goes to several neighbours, one after the other.
std::uint64_t TcpWorldImpl::hash_of(const Payload& payload) {
  if (!payload) return wire::hash_payload({});
  if (payload != hashed_) {
    hashed_ = payload;
    last_hash_ = wire::hash_payload({payload->data(), payload->size()});
  }
  return last_hash_;
}

void TcpWorldImpl::after(Time delay, std::function<void()> f) {
  const auto timer = std::make_shared<asio::steady_timer>(io_, delay);
  timer->async_wait([timer, f = std::move(f)](const asio::error_code& error) {
    if (!error) f();
  });
}

void TcpWorldImpl::offload(Lane lane,
                           double flops,
                           std::function<void()> job,
                           std::function<void()> done) {
  Work& work = work_.at(static_cast<std::size_t>(lane));
  if (work.jobs == 0 && flops > 0 && peer_->replica.runs_inline(flops)) {
    const std::string why = failure_of(job);
    if (!why.empty()) return fail_compute(why);
    asio::post(io_, std::move(done));
    return;
  }
  ++work.jobs;
  if (!work.thread) work.thread = std::make_unique<ComputeThread>(options_.compute_threads);
  work.thread->submit([this, &work, job = std::move(job), done = std::move(done)] {
    const std::string why = failure_of(job);
    asio::post(io_, [this, &work, done, why] {
      --work.jobs;
      why.empty() ? done() : fail_compute(why);
    });
  });
}

/// Whoever waits for the job waits for ever: the loop ends.
void TcpWorldImpl::fail_compute(std::string why) {
  compute_failure_ = std::move(why);
  io_.stop();
}

void TcpWorldImpl::fail(std::string reason) {
  failure_ = std::move(reason);
  io_.stop();
}

std::string asio_version() {
  return fmt::format(
      "{}.{}.{}", ASIO_VERSION / 100000, ASIO_VERSION / 100 % 1000, ASIO_VERSION % 100);
}

std::unique_ptr<TcpWorld> TcpWorld::make(TcpOptions options) {
  return std::make_unique<TcpWorldImpl>(std::move(options));
}

}  // namespace gv
