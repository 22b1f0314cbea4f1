#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include <gtest/gtest.h>

#include "peer/record/export/exported_run.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

ExportedRun a_run(const std::string& name, bool more) {
  ExportedRun run{.name = name, .began = 1'800'000'000};
  for (Round round = 100; round <= 300; round += 100) {
    MetricsRow row{.round = round,
                   .seconds = static_cast<double>(round) / 50,
                   .peers = 8,
                   .train_loss = 0.5,
                   .loss = 1.0 / static_cast<double>(round),
                   .loss_local = 0.25,
                   .consensus = 0.125};
    if (more) {
      row.accuracy = 0.75;
      row.accuracy_min = 0.5;
      row.accuracy_max = 1;
      row.sent_bytes = 1000 * round;
      row.states = ActivitySeconds{1, 2, 3, 4, 5, 6, 7, 8};
    }
    run.rows.push_back(row);
  }
  return run;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find("\r\n", at);
    lines.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return lines;
}

TEST(Csv, HasALinePerEvaluationAndEmptyCellsForWhatIsNotKnown) {
  const auto lines = lines_of(csv_of({a_run("plain", false), a_run("a,\"b\"", true)}));
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_TRUE(lines[0].starts_with("run,round,seconds,training_seconds,"));
  EXPECT_TRUE(
      lines[0].ends_with(",sent_bytes,compute_seconds,mix_seconds,code_seconds,late_seconds,"
                         "wire_seconds,evaluate_seconds,checkpoint_seconds,other_seconds"));
  EXPECT_EQ(lines[1], "plain,100,2,,,,8,0.5,0.01,0.25,,,,0.125,,,,,,,,,");
  EXPECT_EQ(lines[4],
            "\"a,\"\"b\"\"\",100,2,,,,8,0.5,0.01,0.25,0.75,0.5,1,0.125,100000,1,2,3,4,5,6,7,8");
}

/// A script of twenty lines was once needed to join them from run.json.
TEST(Csv, HasWhatTellsTheRunsApartAsColumns) {
  ExportedRun first = a_run("a", false);
  first.values = {{"method", "ring"}, {"lr", "0.1"}};
  first.stage = "tune";
  first.keys = {{"seed", "1"}, {"topology", "ring"}, {"output.dir", "runs/a"}};
  ExportedRun second = a_run("b", false);
  second.values = {{"method", "star, twice"}, {"lr", "0.2"}};
  second.stage = "run";
  second.keys = {{"seed", "2"}, {"topology", "ring"}, {"output.dir", "runs/b"}, {"lr", "0.2"}};
  const auto lines = lines_of(csv_of({first, second}));
  EXPECT_TRUE(lines.at(0).starts_with("run,method,lr,stage,seed,round,")) << lines.at(0);
  EXPECT_TRUE(lines.at(1).starts_with("a,ring,0.1,tune,1,")) << lines.at(1);
  EXPECT_TRUE(lines.back().starts_with("b,\"star, twice\",0.2,run,2,")) << lines.back();
}

TEST(ExportedRuns, OfASweepAreItsTrials) {
  const ScratchFolder scratch;
  const std::string sweep = (std::filesystem::path(scratch.path()) / "which").string();
  for (const char* trial : {"b", "a"}) {
    const std::string own = sweep + "/trials/" + trial;
    std::filesystem::create_directories(own);
    std::ofstream(own + "/metrics.jsonl");
    std::ofstream(own + "/run.json") << R"({"keys": {"seed": "3"}})";
    std::ofstream(own + "/trial.json") << R"({"stage": "tune", "values": {"lr": "0.1"}})";
  }
  std::filesystem::create_directories(sweep + "/trials/not-begun");
  const std::vector<std::string> runs = runs_of(sweep);
  ASSERT_EQ(runs.size(), 2U);
  const ExportedRun run = read_run(runs[0]);
  EXPECT_EQ(run.name, "a");
  EXPECT_EQ(run.stage, "tune");
  ASSERT_EQ(run.values.size(), 1U);
  EXPECT_EQ(run.values[0].second, "0.1");
  EXPECT_EQ(run.keys.at("seed"), "3");
  EXPECT_EQ(runs_of(runs[0]), std::vector{runs[0]});
}

TEST(Csv, WithoutStatesHasNoColumnsForThem) {
  const auto lines = lines_of(csv_of({a_run("plain", false)}));
  EXPECT_TRUE(lines[0].ends_with(",consensus,sent_bytes"));
  EXPECT_EQ(std::ranges::count(lines[0], ','), std::ranges::count(lines[1], ','));
}

/// The loss of an agent is minus its return.
TEST(Csv, HasTheReturnsOfAgents) {
  ExportedRun agent = a_run("agent", false);
  for (MetricsRow& row : agent.rows) {
    row.loss = -200;
    row.loss_local = -150;
    row.frames = 5000;
  }
  const auto lines = lines_of(csv_of({agent, a_run("plain", true)}));
  EXPECT_NE(lines[0].find(",sent_bytes,return,return_local,frames,compute_seconds,"),
            std::string::npos)
      << lines[0];
  EXPECT_EQ(lines[1], "agent,100,2,,,,8,0.5,-200,-150,,,,0.125,,200,150,5000,,,,,,,,");
  EXPECT_EQ(lines[4], "plain,100,2,,,,8,0.5,0.01,0.25,0.75,0.5,1,0.125,100000,,,,1,2,3,4,5,6,7,8");
}

TEST(Csv, HasWhatActorsAndMemoriesDid) {
  ExportedRun agent = a_run("agent", false);
  for (MetricsRow& row : agent.rows) {
    row.loss = -200;
    row.loss_local = -150;
    row.frames = 5000;
    row.memory = 900;
    row.actors = 8;
  }
  agent.rows.back().samples_per_insert = 15.5;
  const auto lines = lines_of(csv_of({agent, a_run("plain", false)}));
  EXPECT_TRUE(lines[0].ends_with(",return,return_local,frames,samples_per_insert,memory,actors"))
      << lines[0];
  EXPECT_TRUE(lines[1].ends_with(",200,150,5000,,900,8")) << lines[1];
  EXPECT_TRUE(lines[3].ends_with(",200,150,5000,15.5,900,8")) << lines[3];
  for (const std::string& line : lines)
    EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(lines[0], ',')) << line;
}

/// The values are from RFC 3720, appendix B.4, and the catalogue of CRCs.
TEST(Crc32c, AgreesWithItsStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  // crc32c::Mask of LevelDB's util/crc32c.h, which TensorFlow copied.
  const std::uint32_t crc = crc32c("foo");
  EXPECT_EQ(masked_crc32c("foo"), ((crc >> 15) | (crc << 17)) + 0xa282ead8U);
}

/// An independent reader of the output: records, then the wire format of protocol buffers.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool ended() const { return rest_.empty(); }
  std::string_view take(std::size_t count) {
    if (rest_.size() < count) throw std::runtime_error("cut off");
    const std::string_view piece = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return piece;
  }
  template <class Value>
  Value raw() {
    Value value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = raw<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string_view record() {
    const std::string_view length = take(8);
    EXPECT_EQ(raw<std::uint32_t>(), masked_crc32c(length));
    std::uint64_t size = 0;
    std::memcpy(&size, length.data(), 8);
    const std::string_view data = take(size);
    EXPECT_EQ(raw<std::uint32_t>(), masked_crc32c(data));
    return data;
  }

 private:
  std::string_view rest_;
};

struct Event {
  double wall_time = 0;
  std::uint64_t step = 0;
  std::string version;
  std::map<std::string, float> values;
};

void read_value(std::string_view bytes, Event& event) {
  Reader in(bytes);
  std::string tag;
  float value = 0;
  while (!in.ended()) {
    const std::uint64_t key = in.varint();
    if (key == (1 << 3 | 2)) {
      tag = in.take(in.varint());
    } else {
      EXPECT_EQ(key, 2U << 3 | 5);
      value = in.raw<float>();
    }
  }
  event.values[tag] = value;
}

Event read_event(std::string_view bytes) {
  Event event;
  Reader in(bytes);
  while (!in.ended()) {
    const std::uint64_t key = in.varint();
    if (key == (1 << 3 | 1)) {
      event.wall_time = in.raw<double>();
    } else if (key == (2 << 3 | 0)) {
      event.step = in.varint();
    } else if (key == (3 << 3 | 2)) {
      event.version = in.take(in.varint());
    } else {
      EXPECT_EQ(key, 5U << 3 | 2);
      Reader summary(in.take(in.varint()));
      while (!summary.ended()) {
        EXPECT_EQ(summary.varint(), 1U << 3 | 2);
        read_value(summary.take(summary.varint()), event);
      }
    }
  }
  return event;
}

TEST(TensorBoard, EventsAreReadBack) {
  const std::string file = event_file(a_run("x", true));
  Reader in(file);
  std::vector<Event> events;
  while (!in.ended()) events.push_back(read_event(in.record()));
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_EQ(events[3].step, 300U);
  EXPECT_EQ(events[3].wall_time, 1'800'000'006);
  EXPECT_EQ(events[3].values.at("loss/mean_model"), 1.0F / 300);
  EXPECT_EQ(events[3].values.at("accuracy/worst"), 0.5F);
  EXPECT_EQ(events[3].values.at("sent_bytes"), 300'000.0F);
  EXPECT_EQ(events[3].values.at("state_seconds/wire"), 5.0F);
  EXPECT_FALSE(
      read_event(Reader(event_file(a_run("x", false))).record()).values.contains("accuracy/worst"));
}

TEST(TensorBoard, ShowsTheReturnsOfAgents) {
  ExportedRun agent = a_run("agent", false);
  for (MetricsRow& row : agent.rows) {
    row.loss = -200;
    row.frames = 5000;
    row.samples_per_insert = 15.5;
    row.memory = 900;
    row.actors = 8;
  }
  const std::string file = event_file(agent);
  Reader in(file);
  in.record();
  const Event event = read_event(in.record());
  EXPECT_EQ(event.values.at("return/mean_model"), 200.0F);
  EXPECT_EQ(event.values.at("data/frames"), 5000.0F);
  EXPECT_EQ(event.values.at("data/samples_per_insert"), 15.5F);
  EXPECT_EQ(event.values.at("data/memory"), 900.0F);
  EXPECT_EQ(event.values.at("data/actors"), 8.0F);
  const std::string other = event_file(a_run("plain", false));
  Reader plain(other);
  plain.record();
  EXPECT_FALSE(read_event(plain.record()).values.contains("data/actors"));
}

TEST(TensorBoard, FilesLieInAFolderPerRun) {
  const ScratchFolder scratch;
  const std::string path = write_event_file(scratch.path() + "/logs", a_run("x", false));
  EXPECT_EQ(path, scratch.path() + "/logs/x/events.out.tfevents.1800000000.grapevine");
  EXPECT_EQ(text_of(path), event_file(a_run("x", false)));
  EXPECT_THROW(write_event_file("/proc/none", a_run("x", false)), std::runtime_error);
}

TEST(ExportedRun, KnowsItsNameAndWhenItBegan) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() + "/fashion";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/run.json") << R"({"began":"2026-05-04T12:00:00Z"})";
  EXPECT_THROW(read_run(folder), std::runtime_error) << "there are no metrics";
  std::ofstream(folder + "/metrics.jsonl") << "";
  EXPECT_EQ(read_run(folder + "/").name, "fashion");
  EXPECT_EQ(read_run(folder).began, 1'777'896'000);
}

}  // namespace
}  // namespace gv
