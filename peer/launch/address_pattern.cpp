#include "peer/launch/address_pattern.h"

#include <charconv>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/printable.h"

namespace gv {

std::vector<PeerAddress> AddressPattern::addresses(PeerId peers) const {
  constexpr std::string_view mark = "{id}";
  constexpr std::uint32_t most = std::numeric_limits<std::uint16_t>::max();
  if (!own_machines() && port + std::uint64_t{peers} - 1 > most)
    throw std::invalid_argument(fmt::format(
        "--at {}:{}: {} peers on one machine need the ports up to {}, and the last is {}",
        printable(host, 100),
        port,
        peers,
        port + std::uint64_t{peers} - 1,
        most));
  std::vector<PeerAddress> all;
  for (PeerId i = 0; i < peers; ++i) {
    std::string name = host;
    const std::string number = std::to_string(i);
    for (std::size_t at = name.find(mark); at != std::string::npos;
         at = name.find(mark, at + number.size()))
      name.replace(at, mark.size(), number);
    const auto own_port = static_cast<std::uint16_t>(own_machines() ? port : port + i);
    all.push_back({i, name, own_port});
  }
  return all;
}

AddressPattern parse_address_pattern(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  AddressPattern pattern{.host = text.substr(0, colon)};
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + colon + 1, end, pattern.port);
    if (error != std::errc{} || last != end) pattern.port = 0;
  }
  constexpr std::size_t longest = 255;
  const bool named = !pattern.host.empty() && pattern.host.size() <= longest;
  if (named && pattern.port != 0 && is_printable(pattern.host)) return pattern;
  throw std::invalid_argument(fmt::format(
      "--at {}: expected HOST:PORT, with {{id}} for the peer's number where each has a host of its "
      "own, such as fleet-{{id}}.fleet:27000",
      printable(text, 100)));
}

}  // namespace gv
