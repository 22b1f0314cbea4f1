#include "peer/launch/control.h"

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

namespace gv::control {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN: null stands for it.
double number(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Reported parse_report(const Json& json) {
  Reported says;
  Report& r = says.report;
  r.peer = json.at("peer").get<PeerId>();
  r.step = json.at("step").get<Step>();
  r.last = json.at("last").get<bool>();
  r.train_loss = number(json.at("train_loss"));
  r.evaluation.loss = number(json.at("loss"));
  if (const Json& accuracy = json.at("accuracy"); !accuracy.is_null())
    r.evaluation.accuracy = accuracy.get<double>();
  r.sent_bytes = json.at("sent_bytes").get<std::uint64_t>();
  r.longest_wait = Time{json.at("longest_wait_ns").get<std::int64_t>()};
  r.passed_over = json.at("passed_over").get<Step>();
  return says;
}

Addresses parse_addresses(const Json& json) {
  Addresses says;
  for (const Json& row : json.at("addresses")) {
    says.list.push_back({row.at("peer").get<PeerId>(),
                         row.at("host").get<std::string>(),
                         row.at("port").get<std::uint16_t>()});
  }
  return says;
}

}  // namespace

std::string line(const Listening& says) {
  return Json{{"event", "listening"}, {"port", says.port}}.dump();
}
std::string line(const Ready&) {
  return Json{{"event", "ready"}}.dump();
}
std::string line(const Progress& says) {
  return Json{{"event", "progress"}, {"step", says.step}}.dump();
}
std::string line(const Reported& says) {
  const Report& r = says.report;
  const auto& accuracy = r.evaluation.accuracy;
  return Json{{"event", "report"},
              {"peer", r.peer},
              {"step", r.step},
              {"last", r.last},
              {"train_loss", r.train_loss},
              {"loss", r.evaluation.loss},
              {"accuracy", accuracy ? Json(*accuracy) : Json(nullptr)},
              {"sent_bytes", r.sent_bytes},
              {"longest_wait_ns", r.longest_wait.count()},
              {"passed_over", r.passed_over}}
      .dump();
}
std::string line(const Addresses& says) {
  Json rows = Json::array();
  for (const PeerAddress& a : says.list)
    rows.push_back({{"peer", a.peer}, {"host", a.host}, {"port", a.port}});
  return Json{{"addresses", rows}}.dump();
}
std::string line(const Cut& says) {
  return Json{{"cut", says.peer}, {"length_ns", says.length.count()}}.dump();
}
std::string line(const Stop&) {
  return Json{{"stop", true}}.dump();
}

PeerSays parse_peer(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    const std::string event = json.at("event").get<std::string>();
    if (event == "listening") return Listening{json.at("port").get<std::uint16_t>()};
    if (event == "ready") return Ready{};
    if (event == "progress") return Progress{json.at("step").get<Step>()};
    if (event == "report") return parse_report(json);
  } catch (const Json::exception&) {
    return {};
  }
  return {};
}

LauncherSays parse_launcher(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (json.contains("addresses")) return parse_addresses(json);
    if (json.contains("cut"))
      return Cut{json.at("cut").get<PeerId>(), Time{json.at("length_ns").get<std::int64_t>()}};
    if (json.contains("stop")) return Stop{};
  } catch (const Json::exception&) {
    return {};
  }
  return {};
}

}  // namespace gv::control
