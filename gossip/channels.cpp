#include "gossip/channels.h"

#include <algorithm>

#include <fmt/format.h>

namespace gv {

std::string objection_to(const std::vector<Channel>& channels) {
  constexpr unsigned end = 32;  // the wire's bounds have a bit for each kind
  for (auto channel = channels.begin(); channel != channels.end(); ++channel) {
    const auto number = static_cast<unsigned>(channel->kind);
    if (!is_channel(channel->kind) || number >= end)
      return fmt::format("a channel has messages of kind {}: take one from 16 to {}", number,
                         end - 1);
    const auto alike = [&](const Channel& other) { return other.kind == channel->kind; };
    if (std::any_of(channels.begin(), channel, alike))
      return fmt::format(
          "two channels of this fleet have messages of kind {}: give the method's own a kind that "
          "gossip/message.h does not name",
          number);
  }
  return "";
}

}  // namespace gv
