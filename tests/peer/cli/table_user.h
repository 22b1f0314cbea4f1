#pragma once

#include <filesystem>

#include "tests/peer/launch/program.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {

/// A user with files in a folder, and fleets of two peers that learn from them.
class TableUser : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string fleet(const std::string& name, const std::string& rest) const {
    return write(name + ".yaml", "version: 1\nname: " + name + "\nseed: 3\npeers: 2\n" + rest +
                                     "\noutput: { dir: " + path(name) + " }\n");
  }
  /// Trains the fleet in virtual time and returns its summary.
  nlohmann::json trained(const std::string& name, const std::string& rest) const {
    std::filesystem::remove_all(path(name));
    const Ended ended = run({"simulate", fleet(name, rest), "--json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.summary();
  }
  /// Returns the reason for the refusal.
  std::string refusal(const std::string& rest) const {
    const Ended ended = run({"simulate", fleet("refused", rest), "--no-save"});
    EXPECT_EQ(ended.code, 2) << ended.output();
    return ended.err;
  }
  std::string model(const std::string& name) const { return path(name + "/model.safetensors"); }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  ScratchFolder folder_;
};

}  // namespace gv
