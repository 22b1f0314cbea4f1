// A checkpoint with a corrected checksum, and the training state in it.
#include <cstring>
#include <vector>

#include <xxhash.h>

#include "optim/check.h"
#include "optim/replica/host_replica.h"
#include "peer/model/checkpoint/checkpoint_store.h"
#include "tests/fuzz/fuzz_input.h"

namespace gv {
namespace {

void make_check_right(std::span<std::byte> bytes) {
  if (bytes.size() < checkpoint_check_bytes) return;
  const auto checked = bytes.first(bytes.size() - checkpoint_check_bytes);
  XXH128_canonical_t check;
  XXH128_canonicalFromHash(&check, XXH3_128bits(checked.data(), checked.size()));
  std::memcpy(bytes.data() + checked.size(), &check, sizeof check);
}

/// Sets the length of the state to what the file and other lengths leave; sums may overflow.
void make_length_right(std::span<std::byte> bytes) {
  if (bytes.size() < checkpoint_head_bytes) return;
  std::uint32_t fleet = 0, model = 0;
  std::memcpy(&fleet, bytes.data() + 24, sizeof fleet);
  std::memcpy(&model, bytes.data() + 28, sizeof model);
  const std::uint64_t state =
      bytes.size() - checkpoint_head_bytes - checkpoint_check_bytes - fleet - model;
  std::memcpy(bytes.data() + 32, &state, sizeof state);
}

std::unique_ptr<Replica> small_replica() {
  QuadraticSpec spec;
  spec.dimension = 4;
  return make_host_replica(make_quadratic(spec, 0, 2, Rng(1)), {}, 1, Rng(1));
}

void restore(std::span<const std::byte> state) {
  const std::unique_ptr<Replica> replica = small_replica();
  StateReader in(state);
  try {
    replica->restore(in);
    in.end();
  } catch (const std::runtime_error&) {
    return;
  }
  StateWriter again;
  replica->save(again);
  GV_CHECK_EQUAL(again.bytes().size(), state.size(), "what was restored is saved alike");
}

}  // namespace
}  // namespace gv

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gv::fuzz::Input input(data, size);
  const std::uint8_t how = input.byte();
  const auto given = input.rest();
  std::vector<std::byte> bytes(given.begin(), given.end());
  if ((how & 2U) != 0) gv::make_length_right(bytes);
  if ((how & 1U) != 0) gv::make_check_right(bytes);
  gv::Checkpoint checkpoint;
  if (!gv::decode(bytes, checkpoint).empty()) return 0;
  GV_CHECK(gv::encode(checkpoint) == bytes, "a checkpoint is the same behind its encoding");
  gv::restore(checkpoint.state);
  return 0;
}
