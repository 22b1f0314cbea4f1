#include <fstream>

#include <gtest/gtest.h>

#include "peer/fleet/model_profile.h"
#include "peer/study/bench/bench.h"
#include "tests/peer/fleet/first_problem.h"
#include "tests/peer/sim/chains/chain_fleets.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

ModelProfile two_pieces() {
  ModelProfile profile;
  profile.model = "mlp";
  profile.rows = {2, 6};
  profile.pieces = {{.name = "fc1",
                     .parameters = 8,
                     .floats = 3,
                     .slot_bytes = 20,
                     .forward_seconds = {1, 2},
                     .backward_seconds = {2, 6}},
                    {.name = "fc2",
                     .parameters = 4,
                     .floats = 0,
                     .slot_bytes = 12,
                     .forward_seconds = {1, 1},
                     .backward_seconds = {1, 1}}};
  profile.add_seconds = 1e-9;
  profile.step_seconds = 2e-9;
  return profile;
}

TEST(Profile, IsLinearBetweenWhatWasMeasured) {
  const ModelProfile profile = two_pieces();
  EXPECT_EQ(profile.forward(0, 2), 1);
  EXPECT_EQ(profile.forward(0, 4), 1.5);
  EXPECT_EQ(profile.backward(0, 6), 6);
  EXPECT_EQ(profile.backward(0, 12), 12);
  EXPECT_EQ(profile.forward(0, 1), 0.5);
}

TEST(Profile, IsReadAsItWasWritten) {
  const std::string text = profile_json(two_pieces()).dump();
  EXPECT_EQ(profile_json(parse_profile(text, "p.json")).dump(), text);
}

TEST(Profile, IsRefusedWithWhatIsWrong) {
  const auto problem = [](const std::string& from, const std::string& to) {
    std::string text = profile_json(two_pieces()).dump();
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
      static_cast<void>(parse_profile(text, "p.json"));
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::pair<const char*, const char*> ways[] = {
      {"\"rows\":[2,6]", "\"rows\":[6,2]"},
      {"\"rows\":[2,6]", "\"rows\":[0,6]"},
      {"\"rows\":[2,6]", "\"rows\":[2,6,7]"},
      {"\"rows\":[2,6]", "\"rows\":[]"},
      {"[2.0,6.0]", "[2.0,-6.0]"},
      {"[2.0,6.0]", "[2.0]"},
      {"[2.0,6.0]", "[2.0,null]"},
      {"\"slot_bytes\":[20,12]", "\"slot_bytes\":[20]"},
      {"grapevine.profile/1", "grapevine.profile/2"},
      {"add_seconds", "added_seconds"}};
  for (const auto& [from, to] : ways) EXPECT_NE(problem(from, to), "") << to;
}

/// A fleet accepts a profile next to its file only if it is a profile of its model.
TEST(Profile, OfAnotherModelIsRefused) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/p.json";
  std::ofstream(path) << profile_json(two_pieces()).dump();
  ChainFleet fleet;
  fleet.more = "simulate: { profile: " + path + " }\n";
  const std::string found = first_problem([&] { const Assembly assembly = fleet.assembly(); });
  EXPECT_NE(found.find("2 pieces, and the model has 5"), std::string::npos) << found;
  std::ofstream(path) << "{ no json";
  EXPECT_NE(first_problem([&] { const Assembly assembly = fleet.assembly(); }), "");
  fleet.more = "simulate: { profile: " + folder.path() + "/none.json }\n";
  EXPECT_NE(first_problem([&] { const Assembly assembly = fleet.assembly(); }), "");
}

/// The measurements add up to a pass of the whole model, and affect virtual time but no bit.
TEST(Profile, DecidesVirtualTimeAndNoBit) {
  ChainFleet file;
  file.local_steps = 1;
  const Assembly fleet = file.assembly();
  std::vector<double> whole;
  const ModelProfile measured =
      profile_model(fleet, {.rows = {1, 4, 8}, .threads = 1, .seconds = 0.02},
                    [&](std::uint32_t, double seconds) { whole.push_back(seconds); });
  ASSERT_EQ(measured.pieces.size(), 5U);
  std::size_t parameters = 0;
  for (const ModelProfile::Piece& piece : measured.pieces) parameters += piece.parameters;
  EXPECT_EQ(parameters, fleet.dimension);
  for (std::size_t r = 0; r < measured.rows.size(); ++r) {
    double sum = 0;
    for (std::size_t k = 0; k < 5; ++k)
      sum += measured.forward(k, measured.rows[r]) + measured.backward(k, measured.rows[r]);
    EXPECT_NEAR(sum, whole[r], 1e-9 * whole[r]);
  }
  const ScratchFolder folder;
  const std::string path = folder.path() + "/p.json";
  std::ofstream(path) << profile_json(measured).dump();
  ChainFleet timed = file;
  timed.more = "simulate: { profile: " + path + " }\n";
  const ChainRun with = run_chains(timed.assembly());
  const ChainRun without = run_chains(fleet);
  EXPECT_EQ(with.hashes.params, without.hashes.params);
  EXPECT_NE(with.result.virtual_time, without.result.virtual_time);
  EXPECT_EQ(timed.assembly().fleet.digest, fleet.fleet.digest);
}

}  // namespace
}  // namespace gv
