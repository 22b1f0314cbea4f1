#include "peer/wire/tcp/tcp_world.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/steady_timer.hpp>
#include <asio/version.hpp>
#include <fmt/format.h>
#include <sched.h>

#include "peer/wire/tcp/tcp_world_impl.h"

namespace gv {
namespace {

/// Returns the descriptors that epoll waits for, from lines "tfd: 7 events: ..." of /proc.
std::vector<int> waited_for(int epoll) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(epoll));
  std::vector<int> targets;
  std::string word;
  int target = 0;
  while (info >> word)
    if (word == "tfd:" && info >> target) targets.push_back(target);
  return targets;
}

std::optional<int> number_of(const std::filesystem::path& entry) {
  const std::string name = entry.filename().string();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{}) return {};
  return number;
}

/// Returns the descriptors that are waited for together with `socket`, which is among these, and
/// the epoll(7) descriptors that wait: everything that one network loop has open. Returns nothing
/// if the system does not report it or the socket is not waited for.
std::vector<int> polled_with(int socket) {
  std::vector<int> all;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    const std::filesystem::path what = std::filesystem::read_symlink(entry.path(), none);
    const std::optional<int> epoll = number_of(entry.path());
    if (!epoll || what != "anon_inode:[eventpoll]") continue;
    const std::vector<int> targets = waited_for(*epoll);
    if (std::ranges::find(targets, socket) == targets.end()) continue;
    all.push_back(*epoll);
    all.insert(all.end(), targets.begin(), targets.end());
  }
  return all;
}

/// Burst of an emulated card: a shorter idle time was a delay of this host, not of the network.
/// Timers, wake-ups and copies take this long for each frame (measured: 0.1 to 0.3 ms with two
/// peers per core). Kernels give their token buckets a burst for the same reason.
constexpr Time host_lag{std::chrono::microseconds(100)};

/// Does the job. Returns the text of its exception, or "" if it threw none.
std::string failure_of(const std::function<void()>& job) {
  try {
    job();
    return "";
  } catch (const std::exception& e) {
    const std::string what = e.what();
    return what.empty() ? "the arithmetic failed" : what;
  }
}

/// Returns the processor time used by this thread.
Time worked_by_this_thread() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace

TcpWorldImpl::TcpWorldImpl(TcpOptions options) : options_(std::move(options)) {
  options_.links.self.machine = machine_id();
  work_[static_cast<std::size_t>(Lane::home)].thread = options_.home;
  if (options_.emulate)
    shaper_.emplace(*options_.emulate, options_.links.self.peer, options_.emulation_seed, host_lag);
  if (!options_.share || options_.emulate || options_.links.neighbors.empty()) return;
  shared_ = SharedEdges::make(io_, *options_.share,
                              {.self = options_.links.self.peer,
                               .incarnation = options_.links.self.incarnation,
                               .neighbors = options_.links.neighbors,
                               .region = {},
                               .beside = options_.memory,
                               .on_change = options_.on_share});
  if (!shared_) return;
  options_.links.self.door = shared_->door();
  const auto at_home = [this](std::function<void()> job) {
    offload(Lane::home, 0, std::move(job), [] {});
  };
  lends_ =
      !options_.memory || (options_.page_lock && shared_->lock_for(options_.page_lock, at_home));
}

void TcpWorldImpl::run(const std::vector<PeerAddress>& addresses,
                       LinkUser& user,
                       std::function<void()> begin) {
  begin_ = std::move(begin);
  user_ = &user;
  for (const PeerAddress& address : addresses) {
    take_address(address);
    if (address.reversed) options_.links.reversed.insert(address.peer);
  }
  for (const PeerId id : options_.links.neighbors)
    if (options_.links.dials(id) && !addresses_.contains(id))
      throw std::runtime_error(fmt::format("no address of peer {} is known", id));
  check_keys();
  Carrier& carrier = *this;
  links_.emplace(options_.links, carrier, user, options_.links.self.incarnation);
  const auto guard = asio::make_work_guard(io_);
  for (tcp::acceptor& each : acceptors_) asio::co_spawn(io_, accept_loop(each), asio::detached);
  look_again();
  links_->start(now());
  watch_own_work();
  beat();
  run_loop();
  if (!compute_failure_.empty()) throw ComputeError(compute_failure_);
  if (unfit_) throw PeersDisagree(failure_);
  if (!failure_.empty()) throw std::runtime_error(failure_);
  close_all();
}

/// Does what io_.run() does, and polls for a short time before it sleeps.
void TcpWorldImpl::run_loop() {
  while (io_.run_one() > 0) {
    for (bool found = true; found;) {
      while (io_.poll() > 0) continue;
      if (io_.stopped() || !waits_.begin()) break;
      const Clock::time_point began = Clock::now();
      Time length{0};
      for (found = false; !found && length <= PollingWaits::longest;) {
        ::sched_yield();
        length = Clock::now() - began;
        found = io_.poll() > 0;
      }
      waits_.end(length);
    }
  }
}

/// Closes everything. Neighbours that still wait for an acknowledgement see the end of the
/// connection and a closed port, and know that this peer needs nothing more.
void TcpWorldImpl::close_all() {
  asio::error_code ignored;
  for (tcp::acceptor& each : acceptors_) each.close(ignored);
  if (shared_) shared_->close();
  for (const auto& [id, dialling] : connecting_) dialling->close();
  for (const auto& [id, connection] : connections_) connection.stream->close();
}

void TcpWorldImpl::begin() {
  begun_ = true;
  asio::post(io_, begin_);
}

void TcpWorldImpl::readdress(const PeerAddress& address) {
  take_address(address);
  if (found_[address.peer].empty() && !address.host.empty())
    asio::co_spawn(io_, look_up(address.peer), asio::detached);
}

std::vector<int> TcpWorldImpl::descriptors() const {
  std::vector<int> all;
  if (!acceptors_.empty()) all = polled_with(acceptors_.front().native_handle());
  if (shared_) all.push_back(shared_->descriptor());
  return all;
}

JobCount TcpWorldImpl::work() const {
  JobCount all;
  for (const Work& work : work_) {
    all.jobs += work.done();
    all.working = all.working || work.working();
  }
  return all;
}

void TcpWorldImpl::send(PeerId to, Message message) {
  sent_bytes_ += wire::frame_bytes(message);
  links_->send(to, std::move(message), now());
}

Time TcpWorldImpl::stood_still() const {
  const Time time = now();
  const std::optional<Time> known = standstill_.known(time);
  return known ? *known : standstill_.total(time, worked_by_this_thread());
}

Time TcpWorldImpl::sent_at(const Message& message) {
  const Time began = began_.time_since_epoch();
  return clocks_[message.from].sent_at(message.sent, stamp()) - began;
}

/// Caches the last hash, because one payload goes to several neighbours in sequence.
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
  if (work.jobs == 0 && flops > 0 && options_.runs_inline && options_.runs_inline(flops)) {
    const std::string why = failure_of(job);
    if (!why.empty()) return fail_compute(why);
    asio::post(io_, std::move(done));
    return;
  }
  ++work.jobs;
  if (!work.thread) work.thread = std::make_shared<ComputeThread>(options_.compute_threads);
  const auto why = std::make_shared<std::string>();  // error of the job
  const auto ended = [this, &work, why, done = std::move(done)] {
    asio::post(io_, [this, &work, why, done] {
      --work.jobs;
      why->empty() ? done() : fail_compute(*why);
    });
  };
  work.thread->submit([why, job = std::move(job)] { *why = failure_of(job); }, ended);
}

/// Reports a job that does not end, on a lost device for example, and that would block the process
/// for ever.
void TcpWorldImpl::watch_own_work() {
  if (options_.stuck_after <= Time{0}) return;
  for (Work& work : work_) {
    const Time time = work.watch.at_hand({work.done(), work.working()}, now());
    if (time < options_.stuck_after || !work.watch.first_word()) continue;
    options_.log(
        fmt::format("the arithmetic has been at one job for {:.1f} s, in round {}: giving up "
                    "(faults.stuck_after)",
                    in_seconds(time), user_->clock()));
    options_.on_stuck();
  }
  after(options_.links.times.heartbeat, [this] { watch_own_work(); });
}

void TcpWorldImpl::beat() {
  standstill_.beat(now(), worked_by_this_thread());
  if (shared_) shared_->look_after();
  after(Standstill::period, [this] { beat(); });
}

/// Ends the loop, because the waiting algorithm would never continue.
void TcpWorldImpl::fail_compute(std::string why) {
  compute_failure_ = std::move(why);
  io_.stop();
}

void TcpWorldImpl::fail(const std::string& why) {
  failure_ = why;
  io_.stop();
}

void TcpWorldImpl::fail_unfit(const std::string& why) {
  unfit_ = true;
  fail(why);
}

std::string asio_version() {
  return fmt::format("{}.{}.{}", ASIO_VERSION / 100000, ASIO_VERSION / 100 % 1000,
                     ASIO_VERSION % 100);
}

std::unique_ptr<TcpWorld> TcpWorld::make(TcpOptions options) {
  return std::make_unique<TcpWorldImpl>(std::move(options));
}

}  // namespace gv
