#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "peer/wire/seal/tls_context.h"
#include "tests/error_in.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

mode_t mode_of(const std::string& path) {
  struct stat state {};
  ::stat(path.c_str(), &state);
  return state.st_mode & 07777;
}

class KeyFile : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  std::string error_of(const std::string& name, PeerId id = 0) const {
    return error_in(scratch_, [&] { context_of_file(path(name), id); });
  }
  ScratchFolder scratch_;
};

TEST_F(KeyFile, IsForItsOwnerAloneAndReadsBack) {
  const std::vector<PeerKeys> keys = make_keys(2);
  const std::vector<std::string> paths = write_key_files(path("keys"), keys);
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(mode_of(path("keys")), 0700U);
  for (PeerId i = 0; i < 2; ++i) {
    EXPECT_EQ(paths[i], path("keys/peer-" + std::to_string(i) + ".pem"));
    EXPECT_EQ(mode_of(paths[i]), 0600U);
    EXPECT_EQ(text_of(read_key_file(paths[i])), text_of(keys[i]));
    EXPECT_EQ(context_of_file(paths[i], i)->identity().peer, i);
  }
}

TEST_F(KeyFile, IsNeverWrittenOver) {
  const std::vector<PeerKeys> first = make_keys(2);
  write_key_files(path("keys"), first);
  fs::remove(path("keys/peer-0.pem"));
  const std::string said = error_in(scratch_, [&] { write_key_files(path("keys"), make_keys(2)); });
  EXPECT_NE(said.find("keys/peer-1.pem: exists already"), std::string::npos) << said;
  EXPECT_NE(said.find("help:"), std::string::npos) << said;
  EXPECT_FALSE(fs::exists(path("keys/peer-0.pem"))) << "all or none";
  EXPECT_EQ(text_of(read_key_file(path("keys/peer-1.pem"))), text_of(first[1]));
}

/// A text with a backslash was once accepted as keys, but the launcher repeated it as another JSON
/// string.
TEST_F(KeyFile, HoldsNothingButPem) {
  const Secret whole = text_of(make_keys(1).front());
  EXPECT_EQ(text_of(parse_keys(whole, "keys")), whole);
  const std::size_t inside = whole.find('\n') + 5;
  for (int c = 0; c < 256; ++c) {
    Secret text = whole;
    text[inside] = static_cast<char>(c);
    const bool printable = c == '\n' || (c >= 32 && c < 127 && c != '"' && c != '\\');
    const std::string said = error_in(scratch_, [&] { parse_keys(text, "keys"); });
    EXPECT_EQ(said.empty(), printable) << c;
  }
}

TEST_F(KeyFile, OthersMayNotReadIt) {
  write_key_files(path("keys"), make_keys(1));
  for (const mode_t mode : {0640U, 0604U, 0602U}) {
    ::chmod(path("keys/peer-0.pem").c_str(), mode);
    const std::string said = error_of("keys/peer-0.pem");
    EXPECT_NE(said.find("others may read it"), std::string::npos) << said;
    EXPECT_NE(said.find("chmod 600"), std::string::npos) << said;
  }
}

TEST_F(KeyFile, MustBeOurs) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving a file away needs root";
  write_key_files(path("keys"), make_keys(1));
  ASSERT_EQ(::chown(path("keys/peer-0.pem").c_str(), 65534, 65534), 0);
  EXPECT_NE(error_of("keys/peer-0.pem").find("belongs to another user (number 65534)"),
            std::string::npos);
}

TEST_F(KeyFile, IsNoLinkAndNoPipeAndNoFolder) {
  write_key_files(path("keys"), make_keys(1));
  fs::create_symlink("peer-0.pem", path("keys/link.pem"));
  EXPECT_NE(error_of("keys/link.pem").find("is a link"), std::string::npos);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_NE(error_of("pipe").find("is not a file with keys"), std::string::npos)
      << error_of("pipe");
  EXPECT_NE(error_of("keys").find("is not a file with keys"), std::string::npos);
  EXPECT_NE(error_of("nothing").find("keygen"), std::string::npos) << error_of("nothing");
}

TEST_F(KeyFile, WhatIsWrongInItIsNamed) {
  const std::vector<PeerKeys> keys = make_keys(2);
  const auto said_of = [&](const std::string& text) {
    std::ofstream(path("file")) << text;
    ::chmod(path("file").c_str(), 0600);
    return error_of("file");
  };
  const std::string order = "does not hold a private key, its certificate and the authority's";
  const std::string whole(text_of(keys[0]));
  for (std::size_t size = 0; size < whole.size(); size += 37)
    EXPECT_NE(said_of(whole.substr(0, size)).find(order), std::string::npos) << size;
  EXPECT_NE(said_of(whole + "x").find(order), std::string::npos);
  EXPECT_NE(said_of(std::string(100'000, 'x')).find("longer than keys are"), std::string::npos);
  EXPECT_NE(said_of(std::string(keys[0].key) + keys[1].certificate + keys[0].authority)
                .find("file: OpenSSL:"),
            std::string::npos);
  EXPECT_EQ(said_of(std::string(text_of(keys[1]))),
            "file: holds the keys of peer 1, and this is peer 0");
  EXPECT_EQ(said_of(whole), "");
}

}  // namespace
}  // namespace gv
