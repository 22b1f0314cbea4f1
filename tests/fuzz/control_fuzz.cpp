// Messages between a launcher and its peers, and between it and an agent on another machine.
#include <stdexcept>
#include <type_traits>

#include "optim/check.h"
#include "peer/launch/agent/transport/agent_frame.h"
#include "peer/launch/process/control.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/refusal.h"

namespace gv {
namespace {

template <class Says>
std::string again(const Says& says) {
  return std::visit(
      [](const auto& word) -> std::string {
        using Word = std::decay_t<decltype(word)>;
        if constexpr (std::is_same_v<Word, std::monostate> ||
                      std::is_same_v<Word, control::BadReport>) {
          return "";
        } else {
          return control::line(word);
        }
      },
      says);
}

void read_line(const std::string& line) {
  const std::string peer = again(control::parse_peer(line));
  GV_CHECK(peer.empty() || again(control::parse_peer(peer)) == peer, "the same again");
  const std::string launcher = again(control::parse_launcher(line));
  GV_CHECK(launcher.empty() || again(control::parse_launcher(launcher)) == launcher,
           "the same again");
}

void read_frames(fuzz::Input& input) {
  const std::size_t piece = std::size_t{input.byte()} + 1;
  AgentFrameReader reader;
  try {
    while (!input.empty()) {
      reader.feed(input.text(piece));
      while (const auto frame = reader.take()) {
        AgentFrameReader other;
        other.feed(encode(*frame));
        const auto same = other.take();
        GV_CHECK(same && same->kind == frame->kind && same->body == frame->body, "the same again");
      }
    }
  } catch (const std::runtime_error& e) {
    gv::fuzz::check_refusal(e);
  }
}

}  // namespace
}  // namespace gv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  if (input.flag())
    gv::read_frames(input);
  else
    gv::read_line(std::string(input.text()));
  return 0;
}
