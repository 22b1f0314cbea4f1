#include "peer/record/life/recorder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include "graph/formats/npy_matrix.h"
#include "peer/record/disk/posix_disk.h"

namespace gv {
namespace {

void append(RoundRow& row, const RoundRow& next) {
  row.rounds += next.rounds;
  row.spent += next.spent;
  row.bytes += next.bytes;
  row.staleness = std::max(row.staleness, next.staleness);
  row.queue = std::max(row.queue, next.queue);
}

constexpr std::size_t round_columns = 4 + activities + 3;

std::vector<std::string> round_names() {
  std::vector<std::string> names{"round", "rounds", "begin"};
  names.insert(names.end(), activity_names.begin(), activity_names.end());
  names.insert(names.end(), {"hidden_wire", "bytes", "staleness", "queue"});
  return names;
}

std::vector<double> values_of(const RoundRow& row, Time epoch) {
  std::vector<double> values{static_cast<double>(row.first), static_cast<double>(row.rounds),
                             in_seconds(epoch + row.begin)};
  for (const Time time : row.spent.at) values.push_back(in_seconds(time));
  values.push_back(in_seconds(row.spent.hidden_wire));
  values.push_back(static_cast<double>(row.bytes));
  values.push_back(static_cast<double>(row.staleness));
  values.push_back(static_cast<double>(row.queue));
  return values;
}

NpyMatrix rounds_of(const Recorder& recorder, Time epoch) {
  NpyMatrix matrix{.rows = recorder.rounds().rows().size(),
                   .columns = round_columns,
                   .single_precision = false,
                   .values = {},
                   .names = round_names()};
  for (const RoundRow& row : recorder.rounds().rows())
    for (const double value : values_of(row, epoch)) matrix.values.push_back(value);
  return matrix;
}

NpyMatrix moments_of(const Recorder& recorder, const std::vector<PeerId>& neighbors, Time epoch) {
  NpyMatrix matrix{.rows = recorder.moments().size(),
                   .columns = 5,
                   .single_precision = false,
                   .values = {},
                   .names = {"round", "activity", "begin", "end", "neighbour"}};
  for (const auto& [round, interval] : recorder.moments()) {
    const double with =
        interval.neighbor ? static_cast<double>(neighbors.at(*interval.neighbor)) : -1;
    for (const double value :
         {static_cast<double>(round), static_cast<double>(interval.activity),
          in_seconds(epoch + interval.begin), in_seconds(epoch + interval.end), with})
      matrix.values.push_back(value);
  }
  return matrix;
}

Json totals_json(const Recorder& recorder, const std::optional<ProcessUse>& use) {
  const LifeDone& life = *recorder.life();
  Json neighbours = Json::object();
  for (std::size_t k = 0; k < life.neighbors.size(); ++k) {
    const PeerId peer = life.neighbors[k];
    const auto exchanges = recorder.exchanges().find(peer);
    neighbours.add(
        std::to_string(peer),
        Json{{"late", in_seconds(life.waits[k].late)},
             {"wire", in_seconds(life.waits[k].wire)},
             {"longest_wait", in_seconds(life.waits[k].longest)},
             {"exchanges", exchanges == recorder.exchanges().end() ? 0 : exchanges->second}});
  }
  Json json{{"schema", "grapevine.totals/1"},
            {"peer", recorder.peer()},
            {"seconds", in_seconds(life.costs.spent.total())},
            {"states", spent_json(life.costs.spent)},
            {"hidden_wire", in_seconds(life.costs.spent.hidden_wire)},
            {"neighbours", neighbours},
            {"bytes", Json{{"model", life.costs.model_bytes},
                           {"other", life.costs.sent_bytes - life.costs.model_bytes},
                           {"repeated", life.costs.repeated_bytes}}},
            {"staleness", Json(life.staleness)}};
  if (use) {
    json["cpu_seconds"] = use->cpu_seconds;
    json["peak_memory_bytes"] = use->peak_memory_bytes;
  }
  return json;
}

void write_whole(const std::string& path, std::string_view bytes) {
  PosixDisk disk;
  const std::string temporary = path + ".tmp";
  Verdict wrong = disk.write(temporary, std::as_bytes(std::span(bytes)));
  if (wrong.empty()) wrong = disk.rename(temporary, path);
  if (!wrong.empty()) throw std::runtime_error(fmt::format("{}: {}", path, wrong));
}

std::uint64_t next_life(const std::string& folder) {
  std::uint64_t life = 0;
  std::error_code ignored;
  while (std::filesystem::exists(fmt::format("{}/rounds.{}.npy", folder, life), ignored)) ++life;
  return life;
}

}  // namespace

bool is_kept_whole(Round rounds) {
  constexpr Round in_a_row = 8;
  if (rounds < in_a_row) return true;
  double start = 64;
  while (std::ceil(start) <= static_cast<double>(rounds)) {
    if (static_cast<double>(rounds) < std::ceil(start) + static_cast<double>(in_a_row)) return true;
    start *= 1.5;
  }
  return false;
}

RoundRows::RoundRows(std::size_t most) : most_(std::max<std::size_t>(2, most)) {}

void RoundRows::begin(Round rounds, Time now) {
  before_ = {};
  before_.rounds = rounds;
  before_.now = now;
}

/// Counts skipped rounds with the next one.
void RoundRows::add(const RoundDone& round) {
  RoundRow row{.first = before_.rounds,
               .rounds = round.rounds - std::min(round.rounds, before_.rounds),
               .begin = before_.now,
               .spent = round.spent,
               .bytes = round.sent_bytes - before_.sent_bytes,
               .staleness = round.staleness,
               .queue = round.queue};
  row.spent -= before_.spent;
  before_ = round;
  before_.intervals.clear();
  if (!rows_.empty() && rows_.back().rounds < span_) return append(rows_.back(), row);
  if (rows_.size() == most_) merge_pairs();
  if (!rows_.empty() && rows_.back().rounds < span_) return append(rows_.back(), row);
  rows_.push_back(row);
}

void RoundRows::merge_pairs() {
  span_ *= 2;
  std::vector<RoundRow> merged;
  for (const RoundRow& row : rows_) {
    if (merged.empty() || merged.back().rounds + row.rounds > span_) {
      merged.push_back(row);
    } else {
      append(merged.back(), row);
    }
  }
  rows_ = std::move(merged);
}

RecordLimits record_limits(PeerId peers, std::size_t rows, bool moments) {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  const std::size_t fit = most_bytes / (round_columns * sizeof(double)) / std::max(peers, 1U);
  return {.rows = std::clamp<std::size_t>(fit, 2, std::max<std::size_t>(2, rows)),
          .moments = moments};
}

ProcessUse use_of_this_process() {
  rusage use{};
  if (::getrusage(RUSAGE_SELF, &use) != 0) return {};
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {.cpu_seconds = seconds(use.ru_utime) + seconds(use.ru_stime),
          .peak_memory_bytes = static_cast<std::uint64_t>(use.ru_maxrss) * 1024};
}

void Recorder::round_done(const RoundDone& round) {
  rows_.add(round);
  const Round done = round.rounds - 1;
  for (const Interval& interval : round.intervals) {
    if (!has_room(done)) break;
    moments_.push_back({done, interval});
    asked_moments_ += is_asked(done);
  }
  if (!asked_ || done < asked_->last) return;
  asked_.reset();
  asked_done_ = true;
}

bool Recorder::take_asked_done() {
  return std::exchange(asked_done_, false);
}

void Recorder::settled(const Settlement& settlement) {
  if (settlement.part == 0) ++exchanges_[settlement.with];
}

Json spent_json(const Spent& spent) {
  Json json = Json::object();
  for (std::size_t a = 0; a < activities; ++a)
    json.add(std::string(name_of(static_cast<Activity>(a))), in_seconds(spent.at[a]));
  return json;
}

void write_record(const Recorder& recorder,
                  const std::vector<PeerId>& neighbors,
                  const std::string& folder,
                  std::uint64_t life,
                  Time epoch,
                  const std::optional<ProcessUse>& use) {
  write_whole(fmt::format("{}/rounds.{}.npy", folder, life), npy_bytes(rounds_of(recorder, epoch)));
  write_whole(fmt::format("{}/moments.{}.npy", folder, life),
              npy_bytes(moments_of(recorder, neighbors, epoch)));
  if (recorder.life())
    write_whole(folder + "/totals.json", totals_json(recorder, use).dump() + "\n");
}

LifeRecord::LifeRecord(std::string folder,
                       PeerId peer,
                       std::vector<PeerId> neighbors,
                       const RecordLimits& limits)
    : folder_(std::move(folder)),
      life_(next_life(folder_)),
      neighbors_(std::move(neighbors)),
      recorder_(peer, limits) {}

Verdict LifeRecord::write_when_due(Time now) {
  if (!recorder_.take_asked_done() && now < due_) return "";
  due_ = now + every;
  return write();
}

/// A failure does not stop training and is returned once.
Verdict LifeRecord::write() {
  try {
    write_record(recorder_, neighbors_, folder_, life_, epoch_, use_of_this_process());
    return "";
  } catch (const std::runtime_error& e) {
    if (std::exchange(failed_, true)) return "";
    return fmt::format("the peers' time is not recorded: {}", e.what());
  }
}

}  // namespace gv
