#include "peer/launch/run/best_model.h"

#include <numeric>

#include <gtest/gtest.h>

#include "peer/model/tensors/tensor_file.h"
#include "peer/runtime/assembly/program_model.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

/// Expects a resumed run to find the best model before it was resumed.
void expect_found_again(const Fleet& spec,
                        const Assembly& fleet,
                        const std::vector<float>& in_file,
                        const std::string& said = R"({"round":20,"figure":0.5})") {
  const ScratchFolder scratch;
  const RunFolder folder = RunFolder::make(scratch.path() + "/run");
  std::vector<float> x(fleet.dimension);
  std::iota(x.begin(), x.end(), 0.F);
  Observer observer(fleet.fleet.size(), Assembly(spec).evaluator(), {});
  observer.aim_at({.keep_best = true});
  observer.recall({.best = BestModel{.round = 20, .figure = 0.5, .x = x}});
  keep_best(fleet, folder, *observer.best(), "a version");
  const Recalled past = recalled(fleet, folder, "");
  ASSERT_TRUE(past.best);
  EXPECT_EQ(past.best->round, 20U);
  EXPECT_EQ(past.best->figure, 0.5);
  EXPECT_EQ(past.best->x, x);
  EXPECT_EQ(text_of(folder.file("best.json")), said + "\n");
  if (in_file.empty()) return;
  EXPECT_EQ(open_safetensors(folder.file("model.safetensors"))->read(0), in_file);
}

TEST(BestModel, OfAProgramComesBackAsItLiesInMemory) {
  Fleet fleet = quadratic_fleet(3, "ring", "d-psgd", "");
  fleet.keep_best = true;
  const ProgramModel transposed{.parameters = {{.name = "t", .shape = {2, 3}}}, .orders = {{1, 0}}};
  expect_found_again(fleet, Assembly(fleet, std::nullopt, transposed), {0, 2, 4, 1, 3, 5});
}

/// The figure of an agent is its return. The file once held the loss, which is minus the return.
TEST(BestModel, OfAnAgentSaysItsReturn) {
  const Fleet fleet = read_fleet_text(
      "version: 1\npeers: 2\nagent: {}\ndata: { kind: environment, name: cartpole }\nmodel: { "
      "kind: mlp, hidden: [4] }\n"
      "topology: ring\nstop: { rounds: 40 }\noutput: { save: best }\n");
  expect_found_again(fleet, Assembly(fleet), {}, R"({"round":20,"figure":-0.5,"of":"return"})");
}

TEST(BestModel, OfAQuadraticComesBackThoughNobodyCanPredictWithIt) {
  Fleet fleet = quadratic_fleet(3, "ring", "d-psgd", "");
  fleet.keep_best = true;
  fleet.data.quadratic.dimension = 3;
  expect_found_again(fleet, Assembly(fleet), {0, 1, 2});
}

}  // namespace
}  // namespace gv
