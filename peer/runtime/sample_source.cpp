#include "peer/runtime/sample_source.h"

namespace gv {
namespace {

/// The distance from the beginning at which a restored peer may go on; it takes the server's time.
constexpr std::uint64_t most_passed_over = 10'000'000;

}  // namespace

Payload SampleSource::minibatch(PeerId peer, std::uint64_t number) {
  Stream& stream = streams_[peer];
  if (!stream.objective || number < stream.next) stream = {objective_(peer), 0};
  if (number - stream.next > most_passed_over) return nullptr;
  for (; stream.next < number; ++stream.next) stream.objective->draw(batch_(peer), 0);
  ++stream.next;
  return stream.objective->draw(batch_(peer), 1).front().samples;
}

}  // namespace gv
