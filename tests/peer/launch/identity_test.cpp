#include "peer/launch/identity.h"

#include <map>
#include <stdexcept>

#include <gtest/gtest.h>

namespace gv {
namespace {

std::optional<EngineIdentity> in(const std::map<std::string, std::string>& environment) {
  return engine_identity([&](const char* name) -> const char* {
    const auto at = environment.find(name);
    return at == environment.end() ? nullptr : at->second.c_str();
  });
}

TEST(EngineIdentities, AreThoseOfTheProcessThatTheEngineStarted) {
  EXPECT_FALSE(in({}));
  EXPECT_EQ(in({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "3"}})->id, 3U);
  EXPECT_FALSE(in({{"SLURM_PROCID", "3"}})) << "a shell of salloc is no task";
  EXPECT_EQ(in({{"OMPI_COMM_WORLD_RANK", "2"}, {"PMIX_RANK", "2"}})->variable,
            "OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(in({{"PMIX_RANK", "5"}})->id, 5U);
  EXPECT_EQ(in({{"JOB_COMPLETION_INDEX", "0"}})->id, 0U);
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
