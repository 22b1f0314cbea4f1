#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/fleet/data/data_reader.h"
#include "peer/fleet/digest.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"
#include "peer/fleet/model_profile.h"
#include "peer/fleet/read/sections.h"

namespace gv {
namespace {

constexpr double infinite = 1e300;
/// Bytes; the file system's limit of a folder name is 255.
constexpr std::size_t longest_name = 100;

class FleetReader : Readers {
 public:
  FleetReader(Source& source,
              Value root,
              const std::vector<std::string>& sets,
              std::vector<std::string>* notices)
      : Readers(source), notices_(notices), root_(std::move(root)) {
    const std::string& path = source_.path();
    fleet_.path = path;
    stop_on_errors();
    for (const std::string& argument : sets) source_.apply_set(root_, argument);
    folder_ = std::filesystem::path(path).parent_path();
  }

  /// Without a folder, the file is a lobby's, which this machine joined without allowing code.
  void refuse_code(const Untrusted& untrusted) {
    const bool joined = untrusted.folder.empty();
    const std::string why = joined ? "this machine joined the lobby with --no-program"
                                   : fmt::format(
                                         "this fleet file is named by the folder {}, not "
                                         "by you",
                                         untrusted.folder);
    for (const std::string& key : untrusted.code)
      if (const Value::Entry* const entry = root_.find(key))
        source_.error(entry->place, static_cast<int>(key.size()),
                      fmt::format("`{}` would run code: {}", key, why),
                      joined ? "join without --no-program if you trust the lobby's user"
                             : "read the file, and add --trust if you trust whoever made that "
                               "folder");
    stop_on_errors();
  }

  Fleet read() {
    MapReader top(source_, &root_, "");
    if (!top.present()) stop_on_errors();
    read_version(top);
    fleet_.name = std::filesystem::path(fleet_.path).stem().string();
    const Value* const name = top.take("name");
    read_name(name);
    set(top.take("seed"), fleet_.seed, count(0, std::numeric_limits<std::uint64_t>::max()));
    const Value* hosts = top.take("hosts", "none");
    const Value* peers = top.take("peers");
    const Value* train = top.take("train");
    read_train(train);
    fleet_.hosts = read_hosts(source_, hosts);
    read_peers(source_, peers, usual_, fleet_);
    refuse_own_addresses(source_, hosts, fleet_);
    read_parallel(source_, top.take("parallel"), fleet_);
    work_.share(fleet_, notices_);
    fleet_.program = read_program(source_, top.take("program", "none"));
    read_data_and_model(top.take("data"), top.take("model"));
    const Value* const agent = top.take("agent");
    read_agent(source_, root_, agent, fleet_);
    read_plugin(source_, top.take("plugin", "none"), folder_, fleet_);
    read_algorithm(source_, top.take("algorithm"), fleet_);
    read_robust(source_, top.take("robust"), fleet_);
    fleet_.attackers = read_attackers(source_, top.take("attackers"), fleet_.trainers());
    read_topology(source_, root_, top.take("topology"), folder_, fleet_, notices_);
    const Value* links = top.take("links", "none");
    std::vector<std::string> hosts_of;
    for (const PeerSpec& peer : fleet_.peers) hosts_of.push_back(peer.host);
    fleet_.network = read_network(source_, top.take("network"), links, hosts_of, folder_);
    fleet_.security = read_security(source_, top.take("security"), folder_);
    read_simulate(top.take("simulate"));
    read_stop(top.take("stop"));
    read_evaluate(top.take("evaluate"));
    check_program(source_, root_, fleet_);
    read_checkpoint(top.take("checkpoint"));
    fleet_.faults = read_faults(source_, top.take("faults"), fleet_.size());
    read_launch(top.take("launch"));
    check_parallel(source_, root_, fleet_);
    check_agent(source_, root_, fleet_);
    read_record(top.take("record", "on"));
    read_output(top.take("output"));
    top.finish();
    stop_on_errors();
    fleet_.digest = digest_of(fleet_, name == nullptr ? "" : fleet_.name);
    return std::move(fleet_);
  }

 private:
  void stop_on_errors() const {
    if (!source_.diagnostics().empty()) throw FleetError(fleet_.path, source_.diagnostics());
  }

  /// The name is used for a folder and in every JSON document of the run.
  void read_name(const Value* value) {
    set(value, fleet_.name, word());
    const std::string& name = fleet_.name;
    const Value& at = value != nullptr ? *value : root_;
    constexpr const char* help = "write a `name` of letters, digits and `-`, such as `ring8`";
    if (!is_printable(name))
      source_.error(at, "the fleet's name is not printable UTF-8", help);
    else if (name.find('/') != std::string::npos || name == "." || name == "..")
      source_.error(at, fmt::format("the fleet's name `{}` is a path", name), help);
    else if (name.size() > longest_name)
      source_.error(at, fmt::format("the fleet's name has more than {} bytes", longest_name), help);
  }

  void read_version(MapReader& top) {
    const Value* version = top.take("version");
    if (version == nullptr) {
      source_.error(Place{1, 1, ""}, 1, "missing key `version`",
                    "begin the file with `version: 1`");
    } else if (version->text != "1") {
      source_.error(*version, fmt::format("version {} is not known here", version->text),
                    "this Grapevine reads version 1; a newer file needs a newer Grapevine");
    }
  }

  void read_data_and_model(const Value* data, const Value* model) {
    if (!fleet_.program) {
      fleet_.data = read_data(source_, root_, data, folder_, fleet_.models(), notices_);
      return read_model(source_, root_, model, folder_, fleet_);
    }
    fleet_.data = read_program_data(source_, data, fleet_.size());
    fleet_.model.kind = "program";
    if (model == nullptr || model->kind != Value::Kind::map) return;  // check_program reports this
    const Value::Entry* const start = model->find("start");
    read_start(source_, start == nullptr ? nullptr : &start->value, folder_, fleet_);
  }

  void read_train(const Value* value) {
    MapReader map(source_, value, "train");
    fleet_.optimizer = read_optimizer(source_, map.take("optimizer"));
    fleet_.class_weights = read_class_weights(source_, map.take("class_weights", "none"));
    map.choose("peer_weights", fleet_.by_samples);
    set(map.take("device"), usual_.device,
        [this](const Value& v) { return read_device(source_, v); });
    set(map.take("precision"), usual_.precision,
        [this](const Value& v) { return read_precision(source_, v); });
    work_.read_batch(map.take("batch"), usual_);
    work_.read_local_steps(map.take("local_steps"), fleet_);
    map.finish();
  }

  void read_simulate(const Value* value) {
    MapReader map(source_, value, "simulate");
    set(map.take("flops"), fleet_.flops, [this](const Value& v) { return read_flops(source_, v); });
    if (const Value* profile = map.take("profile")) {
      read_profile_file(*profile);
      if (!fleet_.parallel)
        source_.error(*profile,
                      "a profile has the times of a model's stages, and the file has no `parallel`",
                      "add `parallel: { stages: 1 }`, or leave `profile` out");
    }
    map.finish();
  }

  void read_profile_file(const Value& value) {
    const std::string path = read_path(source_, value, folder_);
    if (path.empty()) return;
    try {
      fleet_.profile = std::make_shared<const ModelProfile>(read_profile(path));
      fleet_.profile_content = content_of({path});
    } catch (const std::exception& e) {
      source_.error(value, e.what(), "`grapevine profile FILE -o PROFILE` makes one");
    }
  }

  void read_stop(const Value* value) {
    if (value != nullptr && value->kind == Value::Kind::scalar)
      return source_.error(*value, "expected keys and values under `stop`",
                           "write `stop: { epochs: 20 }`, `stop: { rounds: 1000 }`, `stop: { time: "
                           "10 min }` or `stop: { target: { accuracy: 0.9 } }`");
    MapReader map(source_, value, "stop");
    set(map.take("rounds", "none"), fleet_.stop.rounds, count("stop.rounds"));
    set(map.take("epochs", "none"), fleet_.stop.epochs, number("stop.epochs"));
    set(map.take("time", "none"), fleet_.stop.time, duration());
    if (const Value* patience = map.take("patience", "none")) {
      set(patience, fleet_.stop.patience, count("stop.patience"));
      require_validation(*patience, "patience looks at a validation set");
    }
    if (const Value* target = map.take("target", "none"))
      fleet_.stop.target = read_target(source_, *target, "stop.target");
    map.finish();
    const StopSpec& s = fleet_.stop;
    // A program decides itself when it is done.
    if (!s.rounds && !s.epochs && !s.time && !s.target && s.patience == 0 && !fleet_.program &&
        source_.diagnostics().empty()) {
      source_.error(value != nullptr ? *value : root_, "no condition ends the run",
                    "add `stop: { rounds: 1000 }`, or epochs, time, target or patience");
    }
  }

  /// Requires a validation set: decisions by the test set would spoil it as a test.
  void require_validation(const Value& at, const char* why) {
    // Programs choose their own evaluation, and agents are evaluated from separate starts.
    if (fleet_.data.validates() || fleet_.program || fleet_.agent) return;
    source_.error(
        at, fmt::format("{}, and `data` has none", why),
        "write `validation: 10 %` under `data`: the test set is then evaluated only once");
  }

  void read_evaluate(const Value* value) {
    MapReader map(source_, value, "evaluate");
    if (const Value* every = map.take("every", "never")) {
      if (const auto e = read_every(source_, *every, {"round", "epoch", "us", "ms", "s", "min"})) {
        if (e->unit != "round" && e->unit != "epoch")
          read_period(*every);
        else if (e->unit == "epoch")
          fleet_.evaluate_every_epochs = e->count;
        else if (e->count == std::floor(e->count))
          fleet_.evaluate_every = static_cast<std::uint64_t>(e->count);
        else
          source_.error(*every, "a number of rounds is a whole number");
      }
    }
    const Value* const device = map.take("device");
    set(device, fleet_.evaluate_device, [this](const Value& v) { return read_device(source_, v); });
    if (device != nullptr && !fleet_.program)
      source_.error(*device, "the fleet's model is evaluated on the CPU",
                    "leave `device` out: it is about the program of a fleet with `program`");
    map.finish();
  }

  /// Each peer evaluates its model after a period; a period too short leaves no time to train.
  void read_period(const Value& value) {
    constexpr Time least{std::chrono::microseconds(1)};
    const std::optional<Time> period = read_duration(source_, value);
    if (!period) return;
    if (*period < least)
      source_.error(value, fmt::format("`{}` is too short a time between evaluations", value.text),
                    "write at least `1 us`; a whole evaluation is made each time");
    fleet_.evaluate_period = *period;
  }

  void read_record(const Value* value) {
    if (value == nullptr) return;
    RecordSpec& record = fleet_.record;
    if (value->kind == Value::Kind::scalar) {
      if (value->text == "off")
        record.on = false;
      else
        set(value, record.on, flag());
      return;
    }
    MapReader map(source_, value, "record");
    map.read("rows", record.rows);
    map.read("moments", record.moments);
    map.finish();
  }

  void read_checkpoint(const Value* value) {
    MapReader map(source_, value, "checkpoint");
    if (const Value* every = map.take("every", "never")) {
      const auto e = read_every(source_, *every, {"round"});
      if (e && e->count == std::floor(e->count))
        fleet_.checkpoint.every = static_cast<std::uint64_t>(e->count);
      else if (e)
        source_.error(*every, "a number of rounds is a whole number");
    }
    map.read("keep", fleet_.checkpoint.keep);
    map.finish();
  }

  void read_launch(const Value* value) {
    MapReader map(source_, value, "launch");
    map.read("grace", fleet_.grace);
    map.choose("restart", fleet_.restart);
    const Value* const leash = map.read("leash", fleet_.leash);
    if (leash != nullptr) check_leash(*leash);
    bool installed = false;
    map.choose("binary", installed);
    fleet_.push = !installed;
    const Value* const push = map.choose("data", fleet_.push_data);
    // Parts (`{id}`) are not sent, so a host with its own folder may have some.
    const bool sends_all = fleet_.push_data && !fleet_.data.per_peer();
    for (const HostSpec& host : fleet_.hosts)
      if (sends_all && !host.data.empty())
        source_.error(*push,
                      fmt::format("the data are sent to every host, and {} has its own", host.name),
                      "leave out `data: push`, or `data` of the host");
    map.choose("with", fleet_.launch_with);
    map.finish();
  }

  /// Signs of life are sent every two seconds.
  void check_leash(const Value& value) {
    constexpr Time least{std::chrono::seconds(5)};
    if (fleet_.leash < least)
      source_.error(value, fmt::format("`{}` is too short a leash", value.text),
                    "write at least `5 s`: a sign of life comes every two seconds");
  }

  void read_output(const Value* value) {
    fleet_.output_dir = "runs/{name}";
    MapReader map(source_, value, "output");
    map.read("dir", fleet_.output_dir);
    const Value* const save = map.choose("save", fleet_.keep_best);
    if (fleet_.keep_best)
      require_validation(*save, "the best model is the best of a validation set");
    map.finish();
    if (const auto at = fleet_.output_dir.find("{name}"); at != std::string::npos)
      fleet_.output_dir.replace(at, 6, fleet_.name);
    fleet_.output_dir = with_home(fleet_.output_dir);
  }

  std::vector<std::string>* notices_;
  Value root_;
  Fleet fleet_;
  std::filesystem::path folder_;
  PeerSpec usual_;
  WorkReader work_{source_};
};

}  // namespace

Fleet read_fleet(const std::string& path,
                 const std::vector<std::string>& sets,
                 std::vector<std::string>* notices) {
  Source source(path);
  return FleetReader(source, source.parse_file(), sets, notices).read();
}

Fleet read_untrusted_fleet(const std::string& path,
                           const std::vector<std::string>& sets,
                           std::vector<std::string>* notices,
                           const Untrusted& untrusted) {
  Source source(path);
  FleetReader reader(source, source.parse_file(), sets, notices);
  reader.refuse_code(untrusted);
  return reader.read();
}

std::set<std::string> asked_keys(const std::string& path) {
  Source source(path);
  FleetReader(source, source.parse_file(), {}, nullptr).read();
  return source.asked_keys();
}

Fleet read_fleet_text(const std::string& text) {
  Source source("fleet");
  return FleetReader(source, source.parse_text(text), {}, nullptr).read();
}

}  // namespace gv
