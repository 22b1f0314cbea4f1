#include "peer/sim/lies.h"

#include <bit>
#include <type_traits>
#include <variant>

namespace gv {
namespace {

/// Any number: small, large, or near the one that it replaces.
std::uint64_t wrong(std::uint64_t right, FaultInjector& injector) {
  switch (injector.below(4)) {
    case 0:
      return injector.below(8);
    case 1:
      return right + injector.below(5) - 2;
    case 2:
      return right + (std::uint64_t{1} << injector.below(40));
    default:
      return ~injector.below(1000);
  }
}

/// Draws the bits of a float: any, with those below zero and those that are no numbers.
std::uint32_t wrong_bits(FaultInjector& injector) {
  return static_cast<std::uint32_t>(injector.below(std::uint64_t{1} << 32));
}

struct Liar {
  Lie lie;
  FaultInjector& injector;

  void operator()(Hello& hello) const {
    if (lie == Lie::clock) hello.clock += std::uint64_t{1} << injector.below(63);
    if (lie == Lie::silence) hello.received = 0;
    if (lie == Lie::numbers) hello.received = wrong(hello.received, injector);
  }
  void operator()(Refusal&) const {}
  void operator()(Heartbeat& heartbeat) const {
    if (lie == Lie::clock) heartbeat.clock += std::uint64_t{1} << injector.below(63);
    if (lie == Lie::silence) heartbeat.ack = 0;
    if (lie == Lie::numbers) heartbeat.ack = wrong(heartbeat.ack, injector);
  }
  void operator()(NumberedMessage& numbered) const {
    Message& message = numbered.message;
    if (lie == Lie::clock) message.round += std::uint64_t{1} << injector.below(63);
    if (lie == Lie::silence) numbered.ack = 0;
    if (lie == Lie::numbers && injector.below(2) == 0)
      numbered.number = wrong(numbered.number, injector);
    if (lie == Lie::numbers && injector.below(2) == 0) numbered.ack = wrong(numbered.ack, injector);
    if (lie != Lie::contents) return;
    if (injector.below(4) == 0) message.from = static_cast<PeerId>(injector.below(8));
    if (injector.below(4) == 0) message.number = wrong(message.number, injector);
    if (injector.below(4) == 0)
      message.part = static_cast<std::uint32_t>(wrong(message.part, injector));
    if (injector.below(4) == 0)
      message.degree = static_cast<std::uint32_t>(wrong(message.degree, injector));
    if (message.bound != 0 && injector.below(4) == 0)
      message.bound = std::bit_cast<float>(wrong_bits(injector));
    if (injector.below(8) == 0) message.payload = nullptr;
  }
};

}  // namespace

Loan distort(Loan loan, Lie lie, FaultInjector& injector) {
  if (lie != Lie::contents) return loan;
  if (injector.below(4) == 0) loan.block = static_cast<std::uint32_t>(wrong(loan.block, injector));
  if (injector.below(4) == 0) loan.offset = wrong(loan.offset, injector);
  if (injector.below(4) == 0) loan.bytes = wrong(loan.bytes, injector);
  if (injector.below(4) == 0) loan.generation = wrong(loan.generation, injector);
  return loan;
}

Frame distort(Frame frame, Lie lie, FaultInjector& injector) {
  std::visit(Liar{lie, injector}, frame);
  return frame;
}

}  // namespace gv
