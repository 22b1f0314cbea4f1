#include "gossip/session.h"

#include <utility>

#include "gossip/mutant.h"

namespace gv {

const Session::Numbered& Session::send(Message message) {
  return unacknowledged_.emplace_back(Numbered{++sent_, std::move(message)});
}

bool Session::acknowledge(std::uint64_t number) {
  if (number > sent_) return false;
  const std::uint64_t more = mutant(Mutant::acknowledge_too_much) ? 1 : 0;
  while (!unacknowledged_.empty() && unacknowledged_.front().number <= number + more)
    unacknowledged_.pop_front();
  return true;
}

Session::Arrival Session::arrive(std::uint64_t number) {
  if (number <= received_) return mutant(Mutant::take_repetitions) ? Arrival::next : Arrival::again;
  if (number != received_ + 1) return Arrival::gap;
  ++received_;
  return Arrival::next;
}

}  // namespace gv
