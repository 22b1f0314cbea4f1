#include "tests/gossip/link/memory_net.h"
#include "tests/peer/wire/link/link_net.h"

namespace gv {
namespace {

/// Frames without encoding, in virtual time.
class MemoryLinkNet : public LinkNet {
 public:
  void start(LinkSettings settings) override {
    MemoryNet::Process& process = net_.start(std::move(settings));
    std::size_t& bytes = bytes_[process.id];
    bytes = 0;
    process.user.on_message = [&bytes](const Message& m) {
      bytes += m.payload ? m.payload->size() : 0;
    };
  }
  void send(PeerId from, Round number, std::size_t bytes) override {
    net_.send(from, 1 - from, Kind::contribution, number, bytes);
  }
  void say_goodbye(PeerId from, Round number) override {
    net_.send(from, 1 - from, Kind::goodbye, number);
  }
  void end(PeerId id) override {
    net_.process(id).user.finishing = net_.now();
    net_.process(id).links.end(net_.now());
  }
  void kill(PeerId id) override { net_.kill(id); }
  void break_connection() override { net_.break_connections(0, 1); }
  void swallow() override { net_.swallow(); }
  void cut(Time length) override {
    for (PeerId id = 0; id < 2; ++id)
      net_.process(id).links.cut(1 - id, net_.now() + length, net_.now());
  }
  Seen seen(PeerId id) override {
    const MemoryNet::Process& process = net_.process(id);
    return {process.begun,      process.left, process.failure,
            process.user.taken, bytes_[id],   process.user.told};
  }
  bool until(const std::function<bool()>& so) override { return net_.until(so); }

 private:
  MemoryNet net_;
  std::map<PeerId, std::size_t> bytes_;
};

}  // namespace

std::unique_ptr<LinkNet> memory_link_net() {
  return std::make_unique<MemoryLinkNet>();
}

}  // namespace gv
