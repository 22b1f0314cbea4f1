#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "peer/wire/tcp/tcp_world.h"
#include "tests/gossip/link/scripted_user.h"
#include "tests/peer/wire/link/link_net.h"
#include "tests/peer/wire/tcp/proxy.h"

namespace gv {
namespace {

/// The way in which payloads travel.
struct Way {
  bool shares = false;
  std::vector<PeerKeys> keys{};  ///< empty for plain frames
};

/// One process with its own loop and thread, reached through a proxy.
class TcpProcess {
 public:
  TcpProcess(LinkSettings settings, const Way& way)
      : id(settings.self.peer), world_(TcpWorld::make(options(std::move(settings), way))) {
    user_.on_message = [this](const Message& m) { bytes_ += m.payload ? m.payload->size() : 0; };
    proxy_ = std::make_unique<Proxy>(world_->listen(), Harm{}, 1);
  }
  ~TcpProcess() { die(); }

  const PeerId id;
  PeerAddress address() const { return {id, "127.0.0.1", proxy_->port()}; }
  Proxy& proxy() { return *proxy_; }
  TcpWorld& world() { return *world_; }

  void run(std::vector<PeerAddress> addresses) {
    thread_ = std::thread([this, addresses = std::move(addresses)] {
      try {
        world_->run(addresses, user_, [this] { begun_ = true; });
        if (!killed_) left_ = true;
      } catch (const std::runtime_error& e) {
        const std::lock_guard lock(user_.mutex);
        failure_ = e.what();
      }
    });
  }
  /// Posts to its loop, which is idle unless run.
  void post(std::function<void()> f) { world_->post(std::move(f)); }
  /// Copies the payload of a message into the memory that peers use. Runs on its loop.
  Message in_its_memory(Message message) {
    if (!message.payload) return message;
    if (!pool_) pool_ = std::make_unique<BufferPool>(world_->memory());
    const std::shared_ptr<Buffer> copy = pool_->acquire(message.payload->size());
    std::copy_n(message.payload->data(), copy->size(), copy->data());
    message.payload = copy;
    return message;
  }
  void die() {
    if (!world_) return;
    killed_ = true;
    world_->post([this] { world_->abandon(); });
    if (thread_.joinable()) thread_.join();
    proxy_.reset();  // its old address is closed
    world_.reset();
  }
  void end() {
    post([this] {
      {
        const std::lock_guard lock(user_.mutex);
        user_.finishing = world_->now();
      }
      world_->end_loop();
    });
  }
  Seen seen() {
    const std::lock_guard lock(user_.mutex);
    return {begun_, left_, failure_, user_.taken, bytes_, user_.told};
  }

 private:
  /// A user that the link layer calls on the loop's thread and the test reads on its own.
  struct LockedUser : ScriptedUser {
    bool deliver(Message message) override {
      const std::lock_guard lock(mutex);
      return ScriptedUser::deliver(std::move(message));
    }
    void away(PeerId from) override {
      const std::lock_guard lock(mutex);
      ScriptedUser::away(from);
    }
    void died(PeerId from) override {
      const std::lock_guard lock(mutex);
      ScriptedUser::died(from);
    }
    void back(PeerId from) override {
      const std::lock_guard lock(mutex);
      ScriptedUser::back(from);
    }
    void replaced(PeerId from) override {
      const std::lock_guard lock(mutex);
      ScriptedUser::replaced(from);
    }
    std::mutex mutex;
  };

  static TcpOptions options(LinkSettings settings, const Way& way) {
    TcpOptions options;
    if (!way.keys.empty()) {
      options.security = SecurityMode::tls;
      options.keys = std::make_shared<TlsContext>(way.keys.at(settings.self.peer));
    }
    options.links = std::move(settings);
    options.bounds = {.messages = true, .kinds = ~0U, .payload_bytes = 1 << 20};
    options.log = [](const std::string&) {};
    if (way.shares) options.share = region_shape(1 << 20, 1);
    return options;
  }

  LockedUser user_;
  std::unique_ptr<BufferPool> pool_;
  std::unique_ptr<TcpWorld> world_;
  std::unique_ptr<Proxy> proxy_;
  std::thread thread_;
  std::atomic<bool> begun_ = false;
  std::atomic<bool> left_ = false;
  std::atomic<bool> killed_ = false;
  std::string failure_;
  std::size_t bytes_ = 0;
};

/// Sockets on loopback. Each process is reached through a proxy that can break or swallow.
class TcpLinkNet : public LinkNet {
 public:
  explicit TcpLinkNet(Way way) : way_(std::move(way)) {}
  void start(LinkSettings settings) override {
    const PeerId id = settings.self.peer;
    processes_[id].reset();
    processes_[id] = std::make_unique<TcpProcess>(std::move(settings), way_);
    const PeerAddress address = processes_[id]->address();
    if (TcpProcess* other = processes_[1 - id].get(); other != nullptr) {
      other->post([other, address] { other->world().readdress(address); });
      return processes_[id]->run({other->address()});
    }
    // The other's address is unknown until it starts. Until then this port is closed.
    processes_[id]->run({{1 - id, "127.0.0.1", nobody_}});
  }
  void send(PeerId from, Round number, std::size_t bytes) override {
    post(from, message_of(from, Kind::contribution, number, bytes));
  }
  void say_goodbye(PeerId from, Round number) override {
    post(from, message_of(from, Kind::goodbye, number));
  }
  void end(PeerId id) override { processes_[id]->end(); }
  void kill(PeerId id) override { processes_[id]->die(); }
  void break_connection() override {
    for (const auto& process : processes_) process->proxy().reset_all();
  }
  void swallow() override {
    for (const auto& process : processes_) process->proxy().swallow_all();
  }
  void cut(Time length) override {
    for (PeerId id = 0; id < 2; ++id) {
      TcpProcess& process = *processes_[id];
      process.post([&process, other = 1 - id, length] { process.world().cut(other, length); });
    }
  }
  Seen seen(PeerId id) override { return processes_[id]->seen(); }
  bool until(const std::function<bool()>& so) override {
    const auto last = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!so()) {
      if (std::chrono::steady_clock::now() > last) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

 private:
  void post(PeerId from, Message message) {
    TcpProcess& process = *processes_[from];
    process.post([&process, to = 1 - from, message = std::move(message)] {
      process.world().send(to, process.in_its_memory(message));
    });
  }

  const Way way_;
  static constexpr std::uint16_t nobody_ = 1;
  std::array<std::unique_ptr<TcpProcess>, 2> processes_;
};

}  // namespace

std::unique_ptr<LinkNet> tcp_link_net() {
  return std::make_unique<TcpLinkNet>(Way{});
}

std::unique_ptr<LinkNet> shared_link_net() {
  return std::make_unique<TcpLinkNet>(Way{.shares = true});
}

std::unique_ptr<LinkNet> tls_link_net() {
  return std::make_unique<TcpLinkNet>(Way{.keys = make_keys(2)});
}

}  // namespace gv
