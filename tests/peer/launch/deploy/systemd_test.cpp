#include <cstdlib>
#include <filesystem>

#include "peer/launch/deploy/deploy.h"
#include "tests/peer/launch/launch_fixture.h"
#include "tests/text_of.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

class Systemd : public Launch {
 protected:
  std::string lan() const {
    std::string text = text_of(fleet(1, 40));
    text.replace(text.find("peers: 1"), 8,
                 "hosts: { anna: {}, ben: { address: 10.0.0.2 } }\n"
                 "peers: [{ host: anna, count: 2 }, { host: ben }]");
    std::ofstream(path("lan.yaml")) << text;
    return path("lan.yaml");
  }
};

TEST_F(Systemd, EachHostGetsItsUnitsAndWhatTheyRead) {
  const Ended ended = run({"deploy", lan(), "--systemd", "-o", path("units")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const char* name :
       {"anna/etc/systemd/system/grapevine-test-0.service",
        "anna/etc/systemd/system/grapevine-test-1.service", "anna/etc/grapevine/test/fleet.yaml",
        "anna/etc/sysusers.d/grapevine.conf", "ben/etc/systemd/system/grapevine-test-2.service",
        "ben/etc/grapevine/test/fleet.yaml"})
    EXPECT_TRUE(fs::exists(path("units/") + name)) << name;
  EXPECT_FALSE(fs::exists(path("units/ben/etc/systemd/system/grapevine-test-0.service")));
  EXPECT_NE(ended.err.find("scp -r"), std::string::npos) << ended.err;
  const std::string unit = text_of(path("units/anna/etc/systemd/system/grapevine-test-1.service"));
  for (const char* words : {"--id 1 ", "--rejoin-after-restart", "--keys /etc/grapevine/test/keys",
                            "NoNewPrivileges=yes", "ProtectSystem=strict", "User=grapevine",
                            "Restart=on-failure", "RestartPreventExitStatus=2 3"})
    EXPECT_NE(unit.find(words), std::string::npos) << words << "\n" << unit;
}

TEST_F(Systemd, TakesTheUnits) {
  if (std::system("command -v systemd-analyze > /dev/null") != 0)
    GTEST_SKIP() << "systemd-analyze is not installed";
  // The program must be there for the check.
  ASSERT_EQ(run({"deploy", lan(), "--systemd", "-o", path("units"), "--program", "/bin/true",
                 "--user", "root", "--set", "x-odd=50% of $HOME \"it's\" \\"})
                .code,
            0);
  for (const char* name : {"anna/etc/systemd/system/grapevine-test-0.service",
                           "ben/etc/systemd/system/grapevine-test-2.service"}) {
    const Ended checked = Program({"systemd-analyze", "verify", "--man=no", path("units/") + name},
                                  Program::as_it_stands)
                              .wait();
    EXPECT_EQ(checked.code, 0) << checked.err;
    EXPECT_EQ(checked.err.find("grapevine-test"), std::string::npos) << checked.err;
  }
}

TEST_F(Systemd, WordsAreReadBackByItsRules) {
  EXPECT_EQ(systemd_word("output.dir=/var/lib/x"), "output.dir=/var/lib/x");
  EXPECT_EQ(systemd_word(""), "\"\"");
  EXPECT_EQ(systemd_word("a b"), "\"a b\"");
  EXPECT_EQ(systemd_word("50% $HOME \"q\" \\"), "\"50%% $$HOME \\\"q\\\" \\\\\"");
}

TEST_F(Systemd, RefusesWhatCannotStandInAUnit) {
  for (const auto& [option, value] : {std::pair{"--program", "bin/grapevine"},
                                      {"--program", "/bin/a b"},
                                      {"--user", "Root"},
                                      {"--user", "a\nUser=root"}})
    EXPECT_EQ(run({"deploy", lan(), "--systemd", option, value}).code, 2) << value;
  EXPECT_EQ(run({"deploy", lan(), "--systemd", "--set", "x-a=b\nUser=root"}).code, 2);
}

}  // namespace
}  // namespace gv
