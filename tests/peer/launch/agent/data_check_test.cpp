#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "peer/launch/agent/lan/lan_check.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

class DataCheck : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  /// Returns what an agent would report of this path, through the text of its answer.
  DataLook look(const std::string& name) const {
    return parse_look(look_text({path(name)}, folder_.path()), 1);
  }
  /// Returns the findings for two hosts that have these folders at one path.
  std::vector<std::string> found(const std::string& first, const std::string& second) const {
    return data_findings({"anna", "ben"}, {{"/srv/data"}, {"/srv/data"}},
                         {look(first), look(second)});
  }
  ScratchFolder folder_;
};

TEST_F(DataCheck, TheSameFilesAreFine) {
  for (const char* host : {"anna", "ben"}) {
    write(std::string(host) + "/train.csv", "1,2\n");
    write(std::string(host) + "/more/test.csv", "3,4\n");
  }
  EXPECT_TRUE(found("anna", "ben").empty());
  const auto files = digests_of(path("anna"));
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2U);
  EXPECT_EQ((*files)[0].name, "more/test.csv");
  EXPECT_EQ((*files)[1].bytes, 4U);
  EXPECT_EQ((*files)[1].digest.size(), 32U);
}

/// The digest in the doctor's table covers names and contents. There is none if a file is missing.
TEST_F(DataCheck, TheSameDataHaveTheSameDigest) {
  write("anna/a.csv", "1,2\n");
  write("ben/a.csv", "1,2\n");
  write("carl/b.csv", "1,2\n");
  write("dora/a.csv", "1,3\n");
  EXPECT_EQ(data_digest(look("anna")).size(), 8U);
  EXPECT_EQ(data_digest(look("anna")), data_digest(look("ben")));
  EXPECT_NE(data_digest(look("anna")), data_digest(look("carl")));
  EXPECT_NE(data_digest(look("anna")), data_digest(look("dora")));
  EXPECT_EQ(data_digest(look("emil")), "") << "not there";
  EXPECT_EQ(data_digest({}), "") << "nothing was asked for";
}

TEST_F(DataCheck, TheFirstFileThatDiffersIsNamed) {
  write("anna/a.csv", "1,2\n");
  write("anna/b.csv", "3,4\n");
  write("ben/a.csv", "1,2\n");
  write("ben/b.csv", "3,5\n");
  const auto content = found("anna", "ben");
  ASSERT_EQ(content.size(), 1U);
  EXPECT_TRUE(content[0].starts_with(
      "host ben: its data are not those of anna: /srv/data/b.csv has another content\nhelp:"))
      << content[0];
  write("ben/a.csv", "1,2\n5,6\n");
  EXPECT_NE(found("anna", "ben").at(0).find("a.csv has 4 bytes on one and 8 on the other"),
            std::string::npos);
  fs::remove(path("ben/a.csv"));
  EXPECT_NE(found("anna", "ben").at(0).find("a.csv is missing on one side"), std::string::npos);
  EXPECT_NE(found("ben", "anna").at(0).find("a.csv is missing on one side"), std::string::npos);
}

TEST_F(DataCheck, SoDoesOneFile) {
  write("one.csv", "1,2\n");
  write("two.csv", "1,3\n");
  EXPECT_TRUE(found("one.csv", "one.csv").empty());
  EXPECT_NE(found("one.csv", "two.csv").at(0).find(": /srv/data has another content"),
            std::string::npos);
}

TEST_F(DataCheck, WhoLacksItIsNamed) {
  write("anna/a.csv", "1,2\n");
  const auto lacks = found("none", "anna");
  ASSERT_EQ(lacks.size(), 1U);
  EXPECT_TRUE(lacks[0].starts_with("host anna: /srv/data is not there\nhelp:")) << lacks[0];
  EXPECT_EQ(data_findings({"anna"}, {{"/srv/data"}}, {std::nullopt}).size(), 0U)
      << "of a machine that failed something else is said";
}

TEST_F(DataCheck, NonsenseOfAnAgentIsRefused) {
  for (const char* text :
       {"", "{}", "[1]", "{\"free_bytes\":1,\"data\":[]}", "{\"free_bytes\":-1,\"data\":[null]}",
        "{\"free_bytes\":1,\"data\":[[{\"name\":3}]]}",
        "{\"error\":\"/srv/data: cannot be read\"}"})
    EXPECT_THROW(parse_look(text, 1), std::exception) << text;
}

}  // namespace
}  // namespace gv
