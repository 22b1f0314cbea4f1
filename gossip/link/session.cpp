#include "gossip/link/session.h"

#include <utility>

namespace gv {
namespace {

std::uint64_t payload_bytes(const Message& message) {
  return message.payload ? message.payload->size() : 0;
}

}  // namespace

const Session::Numbered& Session::send(Message message) {
  unacknowledged_bytes_ += payload_bytes(message);
  return unacknowledged_.emplace_back(Numbered{++sent_, std::move(message)});
}

bool Session::acknowledge(std::uint64_t number) {
  if (number > sent_) return false;
  while (!unacknowledged_.empty() && unacknowledged_.front().number <= number) {
    unacknowledged_bytes_ -= payload_bytes(unacknowledged_.front().message);
    unacknowledged_.pop_front();
  }
  return true;
}

Session::Arrival Session::arrive(std::uint64_t number) {
  if (number <= received_) return Arrival::again;
  if (number != received_ + 1) return Arrival::gap;
  ++received_;
  return Arrival::next;
}

}  // namespace gv
