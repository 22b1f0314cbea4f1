#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "optim/printable.h"
#include "peer/launch/deploy/deploy.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// Runs the script in a shell, with a program that writes its arguments instead of the real one.
TEST(SlurmScript, StartsTheSweepWithItsVeryWords) {
  const ScratchFolder folder;
  const std::string odd = folder.path() + "/it's a $(folder)";
  ASSERT_EQ(std::system(("mkdir -p " + shell_word(odd)).c_str()), 0);
  {
    std::ofstream teller(odd + "/teller");
    teller << "#!/bin/sh\npwd > told\nfor word; do echo \"$word\" >> told; done\n";
  }
  ASSERT_EQ(std::system(("chmod +x " + shell_word(odd + "/teller")).c_str()), 0);
  const std::string script = slurm_script({.name = "my sweep\n#SBATCH --evil",
                                           .program = odd + "/teller",
                                           .file = odd + "/sweep.yaml",
                                           .folder = odd,
                                           .log = "log-%a",
                                           .only = {"method=a b"},
                                           .tasks = 16,
                                           .workers = 2});
  std::ofstream(folder.path() + "/script") << script;
  ASSERT_EQ(std::system(("sh " + folder.path() + "/script").c_str()), 0) << script;
  std::ifstream told(odd + "/told");
  std::vector<std::string> lines;
  for (std::string line; std::getline(told, line);) lines.push_back(line);
  EXPECT_EQ(lines, (std::vector<std::string>{odd, "sweep", odd + "/sweep.yaml", "--workers", "2",
                                             "--only", "method=a b"}));
  EXPECT_NE(script.find("#SBATCH --array=1-16\n"), std::string::npos);
  EXPECT_NE(script.find("#SBATCH --job-name=my-sweep--SBATCH---evil\n"), std::string::npos);
}

}  // namespace
}  // namespace gv
