#include <filesystem>
#include <fstream>

#include "tests/peer/launch/program.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

// The method of examples/method, loaded into the program.

namespace gv {
namespace {

namespace fs = std::filesystem;

class PlugIn : public testing::Test {
 protected:
  void SetUp() override { fs::copy_file(GV_EXAMPLE_METHOD, object()); }

  std::string object() const { return path("method.so"); }
  std::string path(const std::string& name) const {
    return (fs::path(scratch_.path()) / name).string();
  }

  std::string fleet(const std::string& method = "{ kind: gossip-lookahead, alpha: 0.5, k: 5 }",
                    const std::string& more = "") const {
    std::ofstream(path("fleet.yaml"))
        << "version: 1\nseed: 7\npeers: 4\nplugin: method.so\ndata: { kind: quadratic, dimension: "
           "64 }\nmodel: quadratic\ntopology: ring\nstop: { rounds: 40 }\nalgorithm: "
        << method << "\noutput: { dir: " << path("run") << " }\n"
        << more;
    return path("fleet.yaml");
  }
  static std::string hash_of(const Ended& end) {
    return end.code == 0 ? end.summary().at("params_hash").get<std::string>() : end.err;
  }
  void rewrite(const std::string& from, const std::string& to) const {
    std::string bytes = text_of(object());
    const std::size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, from.size(), to);
    std::ofstream(object(), std::ios::binary) << bytes;
  }

  ScratchFolder scratch_;
};

TEST_F(PlugIn, EndsWithTheSameBitsInBothWorlds) {
  const std::string file = fleet();
  const std::string simulated = hash_of(run({"simulate", file, "--no-save", "--json"}));
  EXPECT_EQ(simulated.size(), 32U) << simulated;
  EXPECT_EQ(hash_of(run({"run", file, "--json"})), simulated);
  const std::string other = "algorithm={ kind: gossip-lookahead, alpha: 0.25 }";
  EXPECT_NE(hash_of(run({"simulate", file, "--no-save", "--json", "--set", other})), simulated)
      << "its keys are read";
  // With alpha 1 the slow weights are the fast ones.
  const std::string plain = hash_of(run({"simulate", file, "--no-save", "--json", "--set",
                                         "algorithm={ kind: gossip-lookahead, alpha: 1 }"}));
  const std::string atc = "algorithm={ kind: d-psgd, order: atc }";
  EXPECT_EQ(hash_of(run({"simulate", file, "--no-save", "--json", "--set", atc})), plain);
}

TEST_F(PlugIn, OfOtherSourcesIsRefusedWithBothHashes) {
  const std::string version = run({"--version"}).output();
  const std::string hash = version.substr(version.find("sources ") + 8, 12);
  rewrite("plug-in of sources " + hash, "plug-in of sources 0123456789ab");
  const Ended end = run({"plan", fleet()});
  EXPECT_EQ(end.code, 2) << end.output();
  EXPECT_NE(end.err.find("0123456789ab"), std::string::npos) << end.err;
  EXPECT_NE(end.err.find(hash), std::string::npos) << end.err;
  EXPECT_NE(end.err.find("fleet.yaml:4"), std::string::npos) << end.err;
}

TEST_F(PlugIn, ThatIsNoneIsRefused) {
  std::ofstream(object()) << "#!/bin/sh\n";
  EXPECT_NE(run({"plan", fleet()}).err.find("no plug-in of Grapevine"), std::string::npos);
  fs::remove(object());
  EXPECT_NE(run({"plan", fleet()}).err.find("no such file"), std::string::npos);
}

/// Peers with different plug-ins cannot form a fleet.
TEST_F(PlugIn, IsPartOfTheFleetsDigest) {
  const auto digest = [&] {
    EXPECT_EQ(run({"simulate", fleet("d-psgd"), "--json"}).code, 0);
    const std::string run_json = text_of(path("run") + "/run.json");
    fs::remove_all(path("run"));
    return nlohmann::json::parse(run_json).at("digest").get<std::string>();
  };
  const std::string one = digest();
  EXPECT_EQ(digest(), one);
  std::ofstream(object(), std::ios::app) << '\0';  // after all that is loaded
  EXPECT_NE(digest(), one);
}

}  // namespace
}  // namespace gv
