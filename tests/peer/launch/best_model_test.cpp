#include "peer/launch/best_model.h"

#include <numeric>

#include <gtest/gtest.h>

#include "peer/model/tensors/safetensors.h"
#include "peer/runtime/program_model.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// Expects a run that is resumed to find the best model until then.
void expect_found_again(const Fleet& spec,
                        const Assembly& fleet,
                        const std::vector<float>& in_file) {
  const ScratchFolder scratch;
  const RunFolder folder = RunFolder::make(scratch.path() + "/run");
  std::vector<float> x(fleet.dimension);
  std::iota(x.begin(), x.end(), 0.F);
  Observer observer(fleet.fleet.size(), Assembly(spec).evaluator(), {});
  observer.aim_at({.keep_best = true});
  observer.recall({.best = BestModel{.round = 20, .figure = 0.5, .x = x}});
  keep_best(fleet, folder, observer, 20, "a version");
  const Recalled past = recalled(fleet, folder, "");
  ASSERT_TRUE(past.best);
  EXPECT_EQ(past.best->round, 20U);
  EXPECT_EQ(past.best->figure, 0.5);
  EXPECT_EQ(past.best->x, x);
  EXPECT_EQ(open_safetensors(folder.file("model.safetensors"))->read(0), in_file);
}

TEST(BestModel, OfAProgramComesBackAsItLiesInMemory) {
  Fleet fleet = quadratic_fleet(3, "ring", "d-psgd", "");
  fleet.keep_best = true;
  const ProgramModel transposed{.parameters = {{.name = "t", .shape = {2, 3}}}, .orders = {{1, 0}}};
  expect_found_again(fleet, Assembly(fleet, std::nullopt, transposed), {0, 2, 4, 1, 3, 5});
}

TEST(BestModel, OfAQuadraticComesBackThoughNobodyCanPredictWithIt) {
  Fleet fleet = quadratic_fleet(3, "ring", "d-psgd", "");
  fleet.keep_best = true;
  fleet.data.quadratic.dimension = 3;
  expect_found_again(fleet, Assembly(fleet), {0, 1, 2});
}

}  // namespace
}  // namespace gv
