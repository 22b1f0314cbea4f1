#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer/fleet/file/value.h"
#include "tests/peer/fleet/fleet_file.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

/// The text of a fleet file before and after the name of a file.
struct Key {
  const char* before;
  const char* behind;
};

constexpr Key keys[] = {{"data: { kind: text, file: ", " }\nmodel: softmax\n"},
                        {"data: { kind: libsvm, file: ", " }\nmodel: softmax\n"},
                        {"data: { kind: table, target: a, file: ", " }\nmodel: softmax\n"},
                        {"data: { kind: table, target: a, file: a.csv, test: ", " }\n"},
                        {"data: { kind: idx, dir: ", " }\nmodel: softmax\n"},
                        {"data: { kind: cifar10, dir: ", " }\nmodel: softmax\n"},
                        {"data: { kind: images, dir: ", " }\nmodel: softmax\n"},
                        {"data: quadratic\nmodel: { kind: quadratic, start: ", " }\n"},
                        {"data: quadratic\nlinks: { file: ", " }\n"},
                        {"data: quadratic\ntopology: 'file:", "'\n"},
                        {"data: quadratic\ntopology: { kind: ring, weights: 'file:", "' }\n"}};

class NamedFile : public testing::TestWithParam<Key> {
 protected:
  static Diagnostic problem_with(const std::string& name) {
    const auto found = problems("version: 1\npeers: 4\nstop: { rounds: 10 }\n" +
                                std::string(GetParam().before) + name + GetParam().behind);
    return found.empty() ? Diagnostic{} : found.front();
  }
};

/// Each once threw an exception that is not for user mistakes, and so gave another exit code.
TEST_P(NamedFile, MayHaveAnyName) {
  const ScratchFolder folder;
  const std::string loop = folder.path() + "/loop";
  fs::create_symlink("loop", loop);
  const std::string file = write_file("plain", "");
  for (const std::string& name :
       {std::string(300, 'a'), std::string(5000, 'b'), loop, file + "/behind", file + "-none"}) {
    const Diagnostic found = problem_with(name);
    EXPECT_NE(found.message, "") << name;
    EXPECT_NE(found.where.find("fleet.yaml:"), std::string::npos) << found.where;
  }
}

INSTANTIATE_TEST_SUITE_P(Keys, NamedFile, testing::ValuesIn(keys));

/// A folder named `~` was once made.
TEST(NamedPaths, BeginAtHome) {
  const char* const set = std::getenv("HOME");
  const std::string before = set == nullptr ? "" : set;
  ::setenv("HOME", "/somewhere/me", 1);
  EXPECT_EQ(with_home("~/runs/a"), "/somewhere/me/runs/a");
  EXPECT_EQ(with_home("~"), "/somewhere/me");
  for (const char* other : {"runs/~", "~me/runs", "/~/runs", ""})
    EXPECT_EQ(with_home(other), other);
  // Without HOME, `~` was once a folder of that name.
  const std::string account = ::getpwuid(::getuid())->pw_dir;
  ::unsetenv("HOME");
  EXPECT_EQ(with_home("~/runs"), account + "/runs");
  ::setenv("HOME", "", 1);
  EXPECT_EQ(with_home("~"), account);
  ::unsetenv("HOME");
  if (set != nullptr) ::setenv("HOME", before.c_str(), 1);
}

TEST(NamedPaths, SayWhyThereIsNoFile) {
  const ScratchFolder folder;
  fs::create_symlink("loop", folder.path() + "/loop");
  EXPECT_EQ(no_file(folder.path() + "/none"), folder.path() + "/none");
  EXPECT_EQ(no_file(folder.path()), folder.path());
  EXPECT_NE(no_file(folder.path() + "/loop").find("symbolic links"), std::string::npos);
  EXPECT_NE(no_folder(std::string(300, 'a')).find("too long"), std::string::npos);
  EXPECT_EQ(no_folder(folder.path()), "");
  ASSERT_EQ(::mkfifo((folder.path() + "/pipe").c_str(), 0600), 0);
  EXPECT_NE(no_file(folder.path() + "/pipe").find("pipe (a pipe or a device"), std::string::npos);
  EXPECT_NE(no_file("/dev/null").find("a pipe or a device"), std::string::npos);
}

}  // namespace
}  // namespace gv
