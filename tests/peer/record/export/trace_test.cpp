#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "graph/formats/npy_matrix.h"
#include "peer/record/export/trace_json.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr RoundRange everything{0, 1'000'000};

/// A run folder of its own.
class Trace : public testing::Test {
 protected:
  void write(int peer, const std::string& file, std::size_t columns, std::vector<double> values) {
    const std::string folder = fmt::format("{}/peers/{:03}", scratch_.path(), peer);
    fs::create_directories(folder);
    const NpyMatrix matrix{
        .rows = values.size() / columns, .columns = columns, .values = std::move(values)};
    std::ofstream(folder + "/" + file, std::ios::binary) << npy_bytes(matrix);
  }
  /// Peer 0 computes and waits for peer 1, which is late. Peer 1 has had two lives.
  void write_run() {
    write(0, "moments.0.npy", 5,
          {0, 0, 1.0, 1.5, -1, 0, 3, 1.5, 1.75, 1, 0, 4, 1.75, 1.875, 1, 1, 0, 2, 2.5, -1});
    write(1, "moments.0.npy", 5, {0, 0, 1.0, 1.7, -1});
    write(1, "moments.1.npy", 5, {1, 1, 2.0, 2.25, -1});
    write(1, "rounds.0.npy", 15, {0, 2, 1.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 800, 3, 5});
  }
  std::string complaint() const {
    try {
      read_moments(scratch_.path(), everything);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  }

  ScratchFolder scratch_;
};

nlohmann::json events_of(const std::vector<PeerMoments>& peers) {
  std::string text;
  write_trace(peers, [&](std::string_view piece) { text += piece; });
  return nlohmann::json::parse(text).at("traceEvents");
}

TEST_F(Trace, HasASlicePerMomentAndAnArrowPerWait) {
  write_run();
  const auto peers = read_moments(scratch_.path(), everything);
  ASSERT_EQ(peers.size(), 2U);
  EXPECT_EQ(peers[1].moments.size(), 2U) << "both lives";
  std::map<std::string, int> kinds;
  const auto events = events_of(peers);
  for (const auto& event : events) ++kinds[event.at("ph").get<std::string>()];
  EXPECT_EQ(kinds, (std::map<std::string, int>{{"M", 4}, {"X", 6}, {"s", 2}, {"f", 2}, {"C", 3}}));
  for (const auto& event : events) {
    if (event.at("ph") == "X" && event.at("name") == "late") {
      EXPECT_EQ(event.at("ts"), 500'000.0) << "since the first moment";
      EXPECT_EQ(event.at("dur"), 250'000.0);
      EXPECT_EQ(event.at("args").at("with"), 1);
    }
    if (event.at("ph") == "s") {
      EXPECT_EQ(event.at("pid"), 1) << "from whom was waited for";
    }
    if (event.at("ph") == "f") {
      EXPECT_EQ(event.at("pid"), 0);
    }
    if (event.at("name") == "bytes a round") {
      EXPECT_EQ(event.at("args").at("value"), 400.0);
    }
  }
}

TEST_F(Trace, OfSomeRoundsHasOnlyThese) {
  write_run();
  const auto peers = read_moments(scratch_.path(), {1, 1});
  EXPECT_EQ(peers[0].moments.size(), 1U);
  EXPECT_EQ(peers[1].moments.size(), 1U);
  EXPECT_TRUE(peers[1].rounds.empty());
}

TEST_F(Trace, OfARunWithoutMomentsThereIsNone) {
  EXPECT_NE(complaint().find("has recorded no moments"), std::string::npos);
  write(0, "rounds.0.npy", 15, std::vector<double>(15, 1));
  EXPECT_NE(complaint().find("has recorded no moments"), std::string::npos);
}

TEST_F(Trace, DamageIsNamed) {
  const std::map<std::vector<double>, std::string> rows{
      {{-1, 0, 1, 2, -1}, "row 0: the first column is no round"},
      {{0.5, 0, 1, 2, -1}, "row 0: the first column is no round"},
      {{0, 8, 1, 2, -1}, "row 0: the second column is no state"},
      {{0, 0, 2, 1, -1}, "row 0: it ends before it begins"},
      {{0, 0, 1, 2, -2}, "row 0: the last is no peer"},
      {{0, 0, 1, 2, 1e9}, "row 0: the last is no peer"}};
  for (const auto& [row, what] : rows) {
    write(0, "moments.0.npy", 5, row);
    EXPECT_NE(complaint().find("peers/000/moments.0.npy: " + what), std::string::npos)
        << complaint();
  }
  write(0, "moments.0.npy", 4, {0, 0, 1, 2});
  EXPECT_NE(complaint().find("4 columns instead of 5"), std::string::npos);
  std::ofstream(scratch_.path() + "/peers/000/moments.0.npy") << "\x93NUMPY";
  EXPECT_THROW(read_moments(scratch_.path(), everything), std::exception);
}

TEST_F(Trace, TooLargeIsRefusedWithWhatFits) {
  std::vector<double> values;
  for (int round = 10; round < 30; ++round)
    for (int k = 0; k < 10; ++k) values.insert(values.end(), {1.0 * round, 0, 1, 2, -1});
  write(0, "moments.0.npy", 5, values);
  const auto peers = read_moments(scratch_.path(), {10, 29});
  EXPECT_NO_THROW(check_trace_size(peers, {10, 29}));
  std::string text;
  try {
    check_trace_size(peers, {10, 29}, 5 * 10 * 110);
  } catch (const std::invalid_argument& e) {
    text = e.what();
  }
  EXPECT_NE(text.find("--rounds 10..14 fits"), std::string::npos) << text;
  // The estimated size is close to the written size.
  std::size_t written = 0;
  write_trace(peers, [&](std::string_view piece) { written += piece.size(); });
  EXPECT_NEAR(static_cast<double>(written), 200 * 110, 0.2 * 200 * 110);
}

TEST_F(Trace, IsCompressedWhereItsNameSaysSo) {
  write_run();
  const auto peers = read_moments(scratch_.path(), everything);
  std::string expected;
  write_trace(peers, [&](std::string_view piece) { expected += piece; });
  for (const char* name : {"/t.json", "/t.json.gz"}) {
    const std::string path = scratch_.path() + name;
    write_trace_file(path, peers);
    std::ifstream raw(path, std::ios::binary);
    EXPECT_EQ(raw.get() == 0x1f, std::string(name).ends_with(".gz"));
    const gzFile in = ::gzopen(path.c_str(), "rb");  // reads both
    std::string text(100'000, '\0');
    text.resize(static_cast<std::size_t>(::gzread(in, text.data(), 100'000)));
    ::gzclose(in);
    EXPECT_EQ(text, expected);
    EXPECT_FALSE(fs::exists(path + ".tmp"));
  }
  EXPECT_THROW(write_trace_file("/proc/none/t.json", peers), std::runtime_error);
}

}  // namespace
}  // namespace gv
