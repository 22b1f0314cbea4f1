#pragma once

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/peer/launch/program.h"
#include "tests/scratch_folder.h"

namespace gv {

using ReadJson = nlohmann::json;

/// `grapevine graph ...`, run as a user would, with files in a folder of the test's own.
class GraphCommand : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }

 private:
  ScratchFolder scratch_;
};

}  // namespace gv
