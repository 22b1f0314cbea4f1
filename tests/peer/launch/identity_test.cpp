#include "peer/launch/manual/identity.h"

#include <map>
#include <stdexcept>

#include <gtest/gtest.h>

namespace gv {
namespace {

using Environment = std::map<std::string, std::string>;

std::function<const char*(const char*)> variables_of(const Environment& environment) {
  return [&](const char* name) -> const char* {
    const auto at = environment.find(name);
    return at == environment.end() ? nullptr : at->second.c_str();
  };
}

std::optional<EngineIdentity> in(const Environment& environment) {
  return engine_identity(variables_of(environment));
}

TEST(EngineIdentities, AreThoseOfTheProcessThatTheEngineStarted) {
  EXPECT_FALSE(in({}));
  EXPECT_EQ(in({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "3"}})->id, 3U);
  EXPECT_FALSE(in({{"SLURM_PROCID", "3"}})) << "a shell of salloc is no task";
  EXPECT_EQ(in({{"OMPI_COMM_WORLD_RANK", "2"}, {"PMIX_RANK", "2"}})->variable,
            "OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(in({{"PMIX_RANK", "5"}})->id, 5U);
  EXPECT_EQ(in({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"OMPI_COMM_WORLD_RANK", "6"}})->id,
            6U)
      << "mpirun in a job: its daemon is Slurm's task 1";
  EXPECT_EQ(in({{"JOB_COMPLETION_INDEX", "0"}})->id, 0U);
}

TEST(EngineIdentities, OfAPodAreTheEndOfItsName) {
  const auto pod = [](const std::string& name) {
    return in({{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, {"HOSTNAME", name}});
  };
  EXPECT_EQ(pod("fleet-12")->id, 12U);
  EXPECT_EQ(pod("my-fleet-0")->variable, "HOSTNAME");
  for (const char* name : {"fleet", "fleet-", "fleet-x", "fleet-6d4cf56db6-x7abc", "12"})
    EXPECT_FALSE(pod(name)) << name;
  EXPECT_FALSE(in({{"HOSTNAME", "node-3"}})) << "a machine that is no pod";
}

TEST(EngineIdentities, AnEngineSaysThatItHasStartedAPeerBefore) {
  const auto restarted = [](const Environment& environment) {
    return restarted_by_engine(variables_of(environment));
  };
  EXPECT_FALSE(restarted({}));
  EXPECT_FALSE(restarted({{"GRAPEVINE_RESTARTS", "0"}, {"GRAPEVINE_MOVES", ""}}));
  EXPECT_TRUE(restarted({{"GRAPEVINE_RESTARTS", "2"}, {"GRAPEVINE_MOVES", "0"}}));
  EXPECT_TRUE(restarted({{"GRAPEVINE_RESTARTS", "0"}, {"GRAPEVINE_MOVES", "1"}}));
}

TEST(EngineIdentities, ThatAreNoNumbersAreRefusedByName) {
  for (const char* value : {"", "x", "3x", "-1", "99999999999"}) {
    try {
      in({{"PMI_RANK", value}});
      FAIL() << value;
    } catch (const std::runtime_error& refused) {
      EXPECT_NE(std::string(refused.what()).find("PMI_RANK"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace gv
