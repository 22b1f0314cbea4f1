#include <map>
#include <stdexcept>

#include <gtest/gtest.h>

#include "peer/launch/agent/transport/batch_nodes.h"

namespace gv {
namespace {

TEST(SlurmSteps, ListsOfTasksAreReadAsSlurmWritesThem) {
  using Tasks = std::vector<std::uint32_t>;
  EXPECT_EQ(tasks_of_nodes("1"), (Tasks{1}));
  EXPECT_EQ(tasks_of_nodes("2(x3),1"), (Tasks{2, 2, 2, 1}));
  EXPECT_EQ(tasks_of_nodes("3,1(x2)"), (Tasks{3, 1, 1}));
  for (const char* text : {"", "x", "2(", "2(x", "2(x3", "2(3)", "2,", ",2", "-1", "2 ",
                           "1(x99999999)", "1(x1000000),1"})
    EXPECT_THROW(tasks_of_nodes(text), std::runtime_error) << text;
}

SlurmStep step_of(std::uint32_t task, std::uint32_t node, std::uint32_t local) {
  return {.job = 1203,
          .nodes = "",
          .tasks_per_node = "2,1",
          .task = task,
          .node = node,
          .local = local};
}

TEST(SlurmSteps, TellWhereEachTaskListens) {
  const auto all = step_addresses(step_of(1, 0, 1), {"anna", "ben"}, 3);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].host, "anna");
  EXPECT_EQ(all[1].port, 20'301);
  EXPECT_EQ(all[2].host, "ben");
  EXPECT_EQ(all[2].port, 20'300);
  const auto same = step_addresses(step_of(2, 1, 0), {"anna", "ben"}, 3);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(all[i].host == same[i].host && all[i].port == same[i].port) << i;
}

TEST(SlurmSteps, RefuseWhatDoesNotFit) {
  EXPECT_THROW(step_addresses(step_of(1, 1, 0), {"anna", "ben"}, 3), std::runtime_error)
      << "dealt out in turn";
  EXPECT_THROW(step_addresses(step_of(0, 0, 0), {"anna", "ben"}, 4), std::runtime_error)
      << "more peers than tasks";
  EXPECT_THROW(step_addresses(step_of(0, 0, 0), {"anna"}, 3), std::runtime_error);
  SlurmStep crowd = step_of(0, 0, 0);
  crowd.tasks_per_node = "101";
  EXPECT_THROW(step_addresses(crowd, {"anna"}, 101), std::runtime_error);
}

TEST(SlurmSteps, AreKnownByAllTheirVariables) {
  std::map<std::string, std::string> environment{{"SLURM_STEP_NODELIST", "n[1-2]"},
                                                 {"SLURM_STEP_TASKS_PER_NODE", "2,1"},
                                                 {"SLURM_JOB_ID", "7"},
                                                 {"SLURM_PROCID", "2"},
                                                 {"SLURM_NODEID", "1"},
                                                 {"SLURM_LOCALID", "0"}};
  const auto variable = [&](const char* name) -> const char* {
    const auto at = environment.find(name);
    return at == environment.end() ? nullptr : at->second.c_str();
  };
  ASSERT_TRUE(slurm_step(variable));
  EXPECT_EQ(slurm_step(variable)->task, 2U);
  EXPECT_TRUE(slurm_step(variable)->blocks);
  environment["SLURM_DISTRIBUTION"] = "cyclic";
  EXPECT_THROW(step_addresses(*slurm_step(variable), {"n1", "n2"}, 3), std::runtime_error)
      << "also where this task would be the same one";
  environment["SLURM_DISTRIBUTION"] = "block";
  EXPECT_EQ(step_addresses(*slurm_step(variable), {"n1", "n2"}, 3).size(), 3U);
  environment["SLURM_LOCALID"] = "0x";
  EXPECT_FALSE(slurm_step(variable));
}

}  // namespace
}  // namespace gv
