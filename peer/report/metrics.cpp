#include "peer/report/metrics.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/record/recorder.h"

namespace gv {
namespace {

Json by_peer(const std::map<PeerId, Round>& values) {
  Json json = Json::object();
  for (const auto& [peer, value] : values) json.add(std::to_string(peer), value);
  return json;
}

Json seconds_by_peer(const std::map<PeerId, Time>& values) {
  Json json = Json::object();
  for (const auto& [peer, value] : values) json.add(std::to_string(peer), in_seconds(value));
  return json;
}

/// What is said of the models, after a round and at the end.
void add_models(Json& line, const FleetRecord& r) {
  line.update({{"loss", r.mean.loss},
               {"loss_local", r.loss_local},
               {"accuracy", r.mean.accuracy},
               {"accuracy_min", r.accuracy_min},
               {"accuracy_max", r.accuracy_max},
               {"consensus", r.consensus}});
}

/// Where the time and the bytes of all peers together went.
void add_costs(Json& line, const FleetRecord& r) {
  line.update({{"staleness", r.staleness},
               {"queue", r.queue},
               {"training_seconds", in_seconds(r.training_time)},
               {"samples", r.samples},
               {"states", spent_json(r.spent)},
               {"hidden_wire", in_seconds(r.spent.hidden_wire)},
               {"bytes",
                Json{{"model", r.model_bytes},
                     {"other", r.sent_bytes - r.model_bytes},
                     {"repeated", r.repeated_bytes}}}});
}

}  // namespace

std::string evaluate_line(const FleetRecord& r) {
  Json line{{"event", "evaluate"},
            {"round", r.round},
            {"seconds", in_seconds(r.time)},
            {"peers", r.peers},
            {"train_loss", r.train_loss}};
  if (r.tick > 0) line["tick"] = r.tick;
  add_models(line, r);
  line["sent_bytes"] = r.sent_bytes;
  add_costs(line, r);
  return line.dump();
}

Json summary_json(const FleetRecord& r, PeerId lost, double seconds, const FinalHashes& hashes) {
  Json line{{"event", "summary"}, {"rounds", r.round}, {"peers", r.peers}, {"lost", lost}};
  add_models(line, r);
  line.update({{"seconds", seconds},
               {"sent_bytes", r.sent_bytes},
               {"longest_wait", seconds_by_peer(r.longest_wait)},
               {"passed_over", by_peer(r.passed_over)},
               {"params_hash", hashes.params},
               {"model_hash", hashes.model}});
  add_costs(line, r);
  return line;
}

void write_safetensors(const std::string& path,
                       const std::vector<Parameter>& parameters,
                       std::span<const float> x,
                       const std::map<std::string, std::string>& metadata) {
  Json header;
  Json& about = header["__metadata__"] = Json::object();
  for (const auto& [key, value] : metadata) about[key] = value;
  std::uint64_t offset = 0;
  for (const Parameter& p : parameters) {
    std::uint64_t bytes = sizeof(float);
    for (const std::uint32_t extent : p.shape) bytes *= extent;
    header[p.name] = {{"dtype", "F32"},
                      {"shape", p.shape},
                      {"data_offsets", std::vector{offset, offset + bytes}}};
    offset += bytes;
  }
  if (offset != x.size_bytes()) {
    throw std::logic_error(
        fmt::format("{}: parameters have {} bytes, x has {}", path, offset, x.size_bytes()));
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  const std::string temporary = path + ".tmp";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.write(reinterpret_cast<const char*>(x.data()), static_cast<std::streamsize>(x.size_bytes()));
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0) {
    throw std::runtime_error(fmt::format("{}: cannot be written", path));
  }
}

}  // namespace gv
