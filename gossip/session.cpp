#include "gossip/session.h"

#include <utility>

namespace gv {

const Session::Numbered& Session::send(Message message) {
  return unacknowledged_.emplace_back(Numbered{++sent_, std::move(message)});
}

bool Session::acknowledge(std::uint64_t number) {
  if (number > sent_) return false;
  while (!unacknowledged_.empty() && unacknowledged_.front().number <= number)
    unacknowledged_.pop_front();
  return true;
}

Session::Arrival Session::arrive(std::uint64_t number) {
  if (number <= received_) return Arrival::again;
  if (number != received_ + 1) return Arrival::gap;
  ++received_;
  return Arrival::next;
}

}  // namespace gv
