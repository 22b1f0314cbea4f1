// Messages between a lobby and the machines that join it: offers, orders for agents, and the
// shares and proofs by which both ends prove the code.
#include <algorithm>
#include <stdexcept>

#include "optim/check.h"
#include "optim/printable.h"
#include "peer/launch/agent/transport/ssh.h"
#include "peer/launch/lobby/offer.h"
#include "peer/wire/seal/spake2.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

namespace gv {
namespace {

bool is_short_line(const std::string& text) {
  return text.size() <= 200 && is_printable(text);
}

void read_offer(const std::string& text) {
  const MachineOffer offer = parse_offer(parse_json(text, "an offer"));
  GV_CHECK(!offer.name.empty() && offer.name.size() <= 40, "a name is short");
  GV_CHECK(machine_name(offer.name) == offer.name, "a name is of letters, digits and dashes");
  GV_CHECK(offer.cores >= 1 && offer.cores <= 100'000, "a machine has cores");
  GV_CHECK(offer.gflops >= 0 && offer.gflops <= 1e9, "a speed is a number");
  GV_CHECK(offer.devices.size() <= 64 && offer.columns.size() <= 1000, "the lists are short");
  GV_CHECK(offer.facts.addresses.size() <= 64, "the list of addresses too");
  for (const DeviceFacts& each : offer.devices) GV_CHECK(is_short_line(each.name), "a device");
  for (const std::string& each : offer.columns) GV_CHECK(is_short_line(each), "a column");
  for (const std::string& each : {offer.facts.processor, offer.facts.version, offer.data})
    GV_CHECK(is_short_line(each), "it is shown on the lobby's screen");
  GV_CHECK(offer.data_folder.size() <= 1000 && is_printable(offer.data_folder), "a folder");
  const std::string said = offer_text(offer);
  GV_CHECK(offer_text(parse_offer(parse_json(said, "an offer"))) == said, "the same again");
}

void read_order(const std::string& text) {
  const AgentWords words = parse_agent_order(parse_json(text, "an order"));
  const std::vector<std::string> argv = agent_argv("grapevine", words);
  GV_CHECK_EQUAL(argv.size(), 10U, "no option is divided");
  for (const std::size_t value : {3U, 5U, 7U, 9U}) {
    GV_CHECK(!argv[value].empty() && argv[value].size() <= 120, "a value is short");
    GV_CHECK(argv[value].front() != '-' && shell_word(argv[value]) == argv[value], "and a word");
  }
  const std::string said = agent_order(words).dump();
  GV_CHECK(agent_order(parse_agent_order(parse_json(said, "an order"))).dump() == said,
           "the same again");
}

/// The other end knows neither the code nor our share.
void take_share(fuzz::Input& input) {
  constexpr std::size_t share_bytes = 65;
  const auto side = input.flag() ? Spake2::Side::lobby : Spake2::Side::joins;
  Spake2 ours(side, Secret(40, 's'), "a connection");
  const std::string_view share = input.text(input.byte());
  const bool took = ours.take(share);
  GV_CHECK(!took || (share.size() == share_bytes && share[0] == 4), "a share is a whole point");
  GV_CHECK(!ours.fits(input.text()), "no proof fits");
  GV_CHECK(!ours.take(share), "an object takes one share");
}

}  // namespace
}  // namespace gv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  const std::size_t which = input.below(3);
  if (which == 2) {
    gv::take_share(input);
    return 0;
  }
  const std::string text(input.text());
  try {
    which == 0 ? gv::read_offer(text) : gv::read_order(text);
  } catch (const std::exception& e) {
    gv::fuzz::check_refusal(e);
  }
  return 0;
}
