#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gossip/link/carrier.h"

namespace gv {

inline Message message_of(PeerId from, Kind kind, Round round = 0, std::size_t bytes = 0) {
  Message message;
  message.from = from;
  message.kind = kind;
  message.number = round;
  if (bytes > 0) message.payload = std::make_shared<Buffer>(bytes);
  return message;
}

/// Records the calls of its link layer.
class ScriptedUser : public LinkUser {
 public:
  bool deliver(Message message) override {
    taken.push_back(message.number);
    kinds.push_back(message.kind);
    if (on_message) on_message(message);
    return expects;
  }
  void heard_round(PeerId from, Round round) override {
    heard[from] = std::max(heard[from], round);
  }
  void heard_work(PeerId from) override { ++works[from]; }
  void away(PeerId from) override { tell("away", from); }
  void died(PeerId from) override { tell("died", from); }
  void back(PeerId from) override { tell("back", from); }
  void replaced(PeerId from) override { tell("replaced", from); }
  void refused(PeerId from) override { ++refusals[from]; }
  Round clock() const override { return round; }
  Round done() const override { return round; }
  Time finishing_since() const override { return finishing; }

  bool was_told(const std::string& what) const {
    return std::ranges::find(told, what) != told.end();
  }

  std::vector<Round> taken;  ///< numbers of the messages, in order
  std::vector<Kind> kinds;   ///< kinds of the messages
  std::vector<std::string> told;
  std::map<PeerId, Round> heard;
  std::map<PeerId, int> works;     ///< number of heard_work() calls by peer
  std::map<PeerId, int> refusals;  ///< refused frames by peer
  bool expects = true;             ///< whether it accepts messages
  Round round = 0;
  Time finishing{0};
  std::function<void(const Message&)> on_message;

 private:
  void tell(const char* what, PeerId from) {
    told.push_back(std::string(what) + " " + std::to_string(from));
  }
};

}  // namespace gv
