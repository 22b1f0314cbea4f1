#include <filesystem>
#include <fstream>

#include "peer/fleet/fleet.h"
#include "tests/peer/launch/program.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

// Folders of runs that another person made. No command that reads such a folder runs the program
// that it names.

namespace gv {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class Untrusted : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  bool pwned() const { return fs::exists(path("PWNED")); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = text_of(path(name));
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << name << " has no " << from;
    write(name, text.replace(at, from.size(), to));
  }
  /// Writes a fleet file with this program, or a fleet on digits if `program` is empty.
  std::string fleet(const std::string& name, const std::string& program) const {
    write(name,
          "version: 1\nname: theirs\nseed: 5\npeers: 3\n" +
              (program.empty() ? "data: { kind: digits, train: 200, test: 50 }\nmodel: softmax\n"
                               : "program: " + program + "\n") +
              "topology: ring\nstop: { rounds: 8 }\nevaluate: { every: 2 rounds }\n"
              "output: { dir: " +
              path("theirs") + " }\n");
    return path(name);
  }
  static std::string digest_of(const std::string& file) {
    return read_fleet(file, {}, nullptr).digest;
  }
  std::string command_that_writes() const {
    return fmt::format("[sh, -c, \"id > {}\"]", path("PWNED"));
  }
  /// Writes the folder of a member of a fleet with this file.
  void leave_reports(const std::string& file, const std::string& digest) const {
    write("hand/peers/000/reports.jsonl", nlohmann::json{{"event", "peer"},
                                                         {"schema", "grapevine.reports/1"},
                                                         {"digest", digest},
                                                         {"peer", 0},
                                                         {"peers", 3},
                                                         {"file", file},
                                                         {"sets", nlohmann::json::array()}}
                                                  .dump() +
                                              "\n");
  }
  /// Makes the folder of a run whose fleet file now names another program, as if it always had.
  void plant_program() const {
    const std::string file = fleet("fleet.yaml", fmt::format("[{}]", GV_QUADRATIC_PEER));
    ASSERT_EQ(run({"run", file, "--json"}).code, 0);
    const std::string before = digest_of(file);
    fleet("fleet.yaml", command_that_writes());
    replace("theirs/run.json", before, digest_of(file));
    leave_reports(file, digest_of(file));
  }

  ScratchFolder folder_;
};

TEST_F(Untrusted, NoCommandStartsTheProgramOfAFolder) {
  plant_program();
  write("rows.csv", "a\n1\n");
  const std::string model = path("theirs/model.safetensors");
  for (const Words& command : std::vector<Words>{{"collect", path("hand")},
                                                 {"collect", path("hand"), "-o", path("into")},
                                                 {"evaluate", path("theirs")},
                                                 {"evaluate", model, "--set", "seed=6"}}) {
    const Ended refused = run(command);
    EXPECT_EQ(refused.code, 2) << command[0] << refused.err;
    for (const std::string& said : {std::string("`program` would run code"), path("fleet.yaml:5:1"),
                                    "program: " + command_that_writes(), std::string("--trust")})
      EXPECT_NE(refused.err.find(said), std::string::npos) << said << "\n" << refused.err;
    EXPECT_FALSE(pwned()) << command[0];
  }
  for (const Words& command :
       std::vector<Words>{{"evaluate", model, path("rows.csv")},
                          {"predict", model, path("rows.csv")},
                          {"report", path("theirs"), "-o", path("report.html")},
                          {"compare", path("theirs"), path("theirs")},
                          {"export", path("theirs"), "--csv", path("run.csv")},
                          {"export", path("theirs"), "--tensorboard", path("events")},
                          {"export", path("theirs"), "--onnx", path("model.onnx")},
                          {"trace", path("theirs"), "-o", path("trace.json")},
                          {"audit", path("theirs")},
                          {"top", path("theirs")},
                          {"stop", path("theirs")},
                          {"checkpoint", path("theirs")}}) {
    EXPECT_LT(run(command).code, 70) << command[0];
    EXPECT_FALSE(pwned()) << command[0];
  }
}

/// `--trust`, which the refusal names, and `run --resume` are the user's own decision.
TEST_F(Untrusted, RunsAtTheUsersOwnWord) {
  plant_program();
  for (const Words& command : std::vector<Words>{{"evaluate", path("theirs"), "--trust"},
                                                 {"collect", path("hand"), "--trust"},
                                                 {"run", "--resume", path("theirs")}}) {
    EXPECT_NE(run(command).code, 0) << "it trains nothing";
    EXPECT_TRUE(fs::remove(path("PWNED"))) << command[0];
  }
}

/// A fleet file of the user's own that names the same fleet needs no `--trust`.
TEST_F(Untrusted, AFleetFileOfTheUsersOwnRuns) {
  const std::string program = fmt::format("[{}]", GV_QUADRATIC_PEER);
  const std::string file = fleet("fleet.yaml", program);
  ASSERT_EQ(run({"run", file, "--json"}).code, 0);
  const std::string own = fleet("own.yaml", program);
  fleet("fleet.yaml", command_that_writes());
  const Ended judged = run({"evaluate", path("theirs"), own, "--json"});
  EXPECT_EQ(judged.code, 0) << judged.err;
  EXPECT_TRUE(judged.summary()["loss"].is_number()) << judged.output();
  leave_reports(own, digest_of(own));
  replace("hand/peers/000/reports.jsonl", own, file);
  const Ended collected = run({"collect", path("hand"), "--file", own});
  EXPECT_EQ(collected.code, 1) << "no peer has finished: " << collected.err;
  EXPECT_FALSE(pwned());
}

/// Nothing of a fleet starts before its digest is known to be that of the peers.
TEST_F(Untrusted, TheDigestIsComparedBeforeAnythingStarts) {
  plant_program();
  const std::string file = fleet("other.yaml", command_that_writes());
  const Ended other = run({"collect", path("hand"), "--file", file, "--set", "seed=6"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("is another fleet now"), std::string::npos) << other.err;
  replace("fleet.yaml", "rounds: 8", "rounds: 9");
  for (const Words& command : std::vector<Words>{{"evaluate", path("theirs"), "--trust"},
                                                 {"run", "--resume", path("theirs")}}) {
    const Ended changed = run(command);
    EXPECT_EQ(changed.code, 2);
    EXPECT_NE(changed.err.find("has changed since"), std::string::npos) << changed.err;
  }
  EXPECT_FALSE(pwned());
}

TEST_F(Untrusted, NoCommandLoadsThePlugInOfAFolder) {
  fs::copy_file(GV_EXAMPLE_METHOD, path("method.so"));
  const std::string file = fleet("fleet.yaml", "");
  std::ofstream(file, std::ios::app)
      << "plugin: method.so\nalgorithm: { kind: gossip-lookahead, alpha: 0.5, k: 2 }\n";
  ASSERT_EQ(run({"simulate", file, "--json"}).code, 0);
  leave_reports(file, "another");
  const Ended refused = run({"collect", path("hand")});
  EXPECT_NE(refused.err.find("`plugin` would run code"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--trust"), std::string::npos) << refused.err;
  const Ended trusted = run({"collect", path("hand"), "--trust"});
  EXPECT_NE(trusted.err.find("is another fleet now"), std::string::npos) << trusted.err;
}

/// The model is of the program's own kind, and only its test set would be read.
TEST_F(Untrusted, NoTestSetIsReadByAPlugIn) {
  ASSERT_EQ(run({"run", fleet("fleet.yaml", ""), "--json"}).code, 0);
  std::ofstream(path("fleet.yaml"), std::ios::app) << "plugin: method.so\n";
  fs::copy_file(GV_EXAMPLE_METHOD, path("method.so"));
  const Ended refused = run({"evaluate", path("theirs")});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_NE(refused.err.find("`plugin` would run code"), std::string::npos) << refused.err;
}

/// Starting an agent runs a program, on a host that a stranger may own.
TEST_F(Untrusted, NoHostOfAFolderIsCalled) {
  const std::string file = fleet("fleet.yaml", "");
  ASSERT_EQ(run({"run", file, "--json"}).code, 0);
  const std::string before = digest_of(file);
  replace("fleet.yaml", "peers: 3",
          "hosts: { ben: { address: 10.0.0.2 } }\npeers: [{ host: ben, count: 3 }]");
  replace("theirs/run.json", before, digest_of(file));
  write("theirs/hosts.json",
        R"({"schema":"grapevine.hosts/1","hosts":[{"host":"ben","folder":"x","fetched":false}]})");
  write("ssh.sh", "id > " + path("PWNED") + "\n");
  Words words{"env", "GRAPEVINE_SSH=sh " + path("ssh.sh"), grapevine_program(), "collect",
              path("theirs")};
  const Ended refused = Program(words, Program::as_it_stands).wait();
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_NE(refused.err.find("`hosts` would run code"), std::string::npos) << refused.err;
  EXPECT_FALSE(pwned());
  for (const Words& more : std::vector<Words>{{"--trust"}, {"--file", file}}) {
    Words trusted = words;
    trusted.insert(trusted.end(), more.begin(), more.end());
    EXPECT_EQ(Program(trusted, Program::as_it_stands).wait().code, 6) << more[0];
    EXPECT_TRUE(fs::remove(path("PWNED"))) << more[0];
  }
}

}  // namespace
}  // namespace gv
