#include "peer/fleet/fleet.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "gossip/registry.h"
#include "peer/fleet/digest.h"
#include "peer/fleet/network_reader.h"
#include "peer/fleet/readers.h"
#include "peer/fleet/topology_reader.h"

namespace gv {
namespace {

constexpr double infinite = 1e300;

bool is_device(const std::string& word) {
  if (word == "auto" || word == "cpu" || word == "cuda") return true;
  if (!word.starts_with("cuda:")) return false;
  const std::string number = word.substr(5);
  return !number.empty() && number.size() <= 2 &&
         std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
}

class FleetReader : Readers {
 public:
  FleetReader(Source& source,
              const std::string& path,
              const std::vector<std::string>& sets,
              std::vector<std::string>* notices)
      : Readers(source), notices_(notices) {
    fleet_.path = path;
    root_ = source_.parse_file();
    stop_on_errors();
    for (const std::string& argument : sets) source_.apply_set(root_, argument);
    folder_ = std::filesystem::path(path).parent_path();
  }

  Fleet read() {
    MapReader top(source_, &root_, "");
    if (!top.present()) stop_on_errors();
    read_version(top);
    fleet_.name = std::filesystem::path(fleet_.path).stem().string();
    set(top.take("name"), fleet_.name, word());
    set(top.take("seed"), fleet_.seed, count(0, std::numeric_limits<std::uint64_t>::max()));
    const Value* hosts = top.take("hosts");
    const Value* peers = top.take("peers");
    const Value* train = top.take("train");
    read_train(train);
    read_hosts(hosts);
    read_peers(peers);
    read_data(top.take("data"));
    read_model(top.take("model"));
    read_algorithm(top.take("algorithm"));
    read_topology(source_, root_, top.take("topology"), folder_, fleet_, notices_);
    const Value* links = top.take("links");
    fleet_.network = read_network(source_, top.take("network"), links, fleet_.size());
    read_simulate(top.take("simulate"));
    read_stop(top.take("stop"));
    read_evaluate(top.take("evaluate"));
    read_checkpoint(top.take("checkpoint"));
    read_faults(top.take("faults"));
    read_launch(top.take("launch"));
    read_output(top.take("output"));
    top.finish();
    stop_on_errors();
    fleet_.digest = digest_of(fleet_);
    return std::move(fleet_);
  }

 private:
  void stop_on_errors() const {
    if (!source_.diagnostics().empty()) throw FleetError(fleet_.path, source_.diagnostics());
  }

  void read_version(MapReader& top) {
    const Value* version = top.take("version");
    if (version == nullptr) {
      source_.error(
          Place{1, 1, ""}, 1, "missing key `version`", "begin the file with `version: 1`");
    } else if (version->text != "1") {
      source_.error(*version,
                    fmt::format("version {} is not known here", version->text),
                    "this grapevine reads version 1; a newer file needs a newer grapevine");
    }
  }

  void read_hosts(const Value* value) {
    fleet_.hosts.push_back({.name = "localhost", .address = "127.0.0.1", .port = 0});
    if (value == nullptr) return;
    if (value->kind != Value::Kind::map)
      return source_.error(*value, "expected a name and its address for each host");
    for (const Value::Entry& entry : value->entries) {
      HostSpec host{.name = entry.key, .address = "127.0.0.1", .port = 0};
      MapReader map(source_, &entry.value, "hosts." + entry.key);
      set(map.take("address"), host.address, word());
      set(map.take("port"), host.port, count(1, 65535));
      map.finish();
      if (host.name == "localhost")
        fleet_.hosts[0] = host;
      else
        fleet_.hosts.push_back(host);
    }
  }

  void read_peers(const Value* value) {
    PeerSpec usual;
    usual.batch = batch_;
    if (value == nullptr || value->kind == Value::Kind::scalar) {
      std::uint32_t n = 2;
      set(value, n, count(1, most_peers));
      fleet_.peers.assign(n, usual);
      return;
    }
    if (value->kind != Value::Kind::sequence || value->items.empty()) {
      source_.error(
          *value,
          "expected a number of peers or a list of { host, device, count, threads, batch, speed }");
      fleet_.peers.assign(1, usual);
      return;
    }
    for (const Value& item : value->items) read_peer_group(item, usual);
    if (fleet_.peers.size() > most_peers)
      source_.error(*value, fmt::format("{} peers; at most {}", fleet_.peers.size(), most_peers));
  }

  void read_peer_group(const Value& item, PeerSpec peer) {
    MapReader map(source_, &item, "peers");
    std::uint32_t n = 1;
    if (const Value* host = map.take("host")) {
      set(host, peer.host, word());
      if (std::ranges::find(fleet_.hosts, peer.host, &HostSpec::name) == fleet_.hosts.end()) {
        source_.error(*host, fmt::format("host `{}` is not listed under `hosts`", peer.host));
      }
    }
    if (const Value* device = map.take("device")) {
      set(device, peer.device, word());
      if (!is_device(peer.device)) {
        source_.error(*device,
                      fmt::format("`{}` is not a device", peer.device),
                      "write `auto`, `cpu`, `cuda` or `cuda:1`");
      }
    }
    set(map.take("count"), n, count(1, most_peers));
    set(map.take("threads"), peer.threads, count(1, 1024));
    set(map.take("batch"), peer.batch, count(1, 1'000'000));
    set(map.take("speed"), peer.speed, number(1e-6, 1e6));
    map.finish();
    fleet_.peers.insert(fleet_.peers.end(), n, peer);
  }

  void read_data(const Value* value) {
    MapReader map(source_, value, "data", true);
    DataSpec& data = fleet_.data;
    const Value* kind = map.take("kind");
    set(kind, data.kind, choice({"idx", "digits", "linear", "quadratic", "blobs"}));
    const bool sized = data.kind == "digits" || data.kind == "linear" || data.kind == "blobs";
    if (sized || data.kind == "idx") {
      const Value* train = map.take("train");
      const Value* test = map.take("test");
      set(train, data.train, count(1, 100'000'000));
      set(test, data.test, count(1, 100'000'000));
    }
    if (data.kind == "idx") read_idx_data(map, value);
    if (data.kind == "linear" || data.kind == "blobs")
      set(map.take("features"), data.features, count(1, 1'000'000));
    if (data.kind == "linear") set(map.take("noise"), data.noise, number(0, 1e6));
    if (data.kind == "blobs") {
      set(map.take("classes"), data.classes, count(2, 256));
      set(map.take("separation"), data.separation, number(0, 1e6));
    }
    if (data.kind == "quadratic")
      read_quadratic(map);
    else
      read_partition(map.take("partition"));
    map.finish();
  }

  void read_idx_data(MapReader& map, const Value* value) {
    DataSpec& data = fleet_.data;
    const Value* dir = map.take("dir");
    set(map.take("fallback"), data.fallback, choice({"digits"}));
    if (dir == nullptr)
      return source_.error(*value,
                           "data of kind `idx` needs `dir`",
                           "the folder of train-images-idx3-ubyte[.gz] and its three companions");
    set(dir, data.dir, word());
    data.dir = (folder_ / data.dir).lexically_normal().string();
    if (std::filesystem::is_directory(data.dir)) return;
    const std::string package = data.dir.find("fashion-mnist") == std::string::npos
                                    ? ""
                                    : "; Debian's package is dataset-fashion-mnist";
    if (data.fallback.empty()) {
      return source_.error(*dir,
                           fmt::format("no such folder: {}", data.dir),
                           fmt::format("install the data{}, or add `fallback: digits`", package));
    }
    data.kind = "digits";
    if (notices_ != nullptr) {
      notices_->push_back(
          fmt::format("{} is not there: the built-in digits are used instead (accuracies differ{})",
                      data.dir,
                      package));
    }
  }

  void read_quadratic(MapReader& map) {
    QuadraticSpec& q = fleet_.data.quadratic;
    set(map.take("dimension"), q.dimension, count(1, 1'000'000'000));
    set(map.take("noise"), q.noise, number(0, 1e6));
    set(map.take("spread"), q.spread, number(0, 1e6));
    set(map.take("start"), q.start, number(-1e6, 1e6));
    if (const Value* hessian = map.take("hessian")) q.hessian = read_numbers(*hessian, 1e-12, 1e12);
  }

  std::vector<double> read_numbers(const Value& list, double least, double most) {
    std::vector<double> numbers;
    if (list.kind != Value::Kind::sequence || list.items.empty()) {
      source_.error(list, "expected a list of numbers, such as [1, 0.5]");
      return {1};
    }
    for (const Value& item : list.items)
      numbers.push_back(read_number(source_, item, least, most).value_or(1));
    return numbers;
  }

  void read_partition(const Value* value) {
    MapReader map(source_, value, "data.partition", true);
    PartitionSpec& p = fleet_.data.partition;
    set(map.take("kind"), p.kind, choice({"iid", "dirichlet", "by-label", "quantity"}));
    if (p.kind == "dirichlet") {
      set(map.take("alpha"), p.alpha, number(1e-6, 1e9));
      set(map.take("min_samples"), p.min_samples, count(1, 1'000'000));
    }
    if (p.kind == "by-label") set(map.take("classes_per_peer"), p.classes_per_peer, count(1, 1000));
    if (p.kind == "quantity") {
      const Value* sizes = map.take("sizes");
      if (sizes != nullptr) p.sizes = read_numbers(*sizes, 1e-9, 1e12);
      if (sizes == nullptr)
        source_.error(*value, "partition `quantity` needs `sizes`, one number per peer");
      else if (p.sizes.size() != fleet_.peers.size())
        source_.error(*sizes,
                      fmt::format("{} sizes for {} peers", p.sizes.size(), fleet_.peers.size()));
    }
    map.finish();
  }

  void read_model(const Value* value) {
    MapReader map(source_, value, "model", true);
    ModelSpec& model = fleet_.model;
    const std::string& data = fleet_.data.kind;
    const bool classes = data == "idx" || data == "digits" || data == "blobs";
    model.kind = classes ? "mlp" : data;
    const Value* kind = map.take("kind");
    set(kind, model.kind, choice({"softmax", "linear", "mlp", "quadratic"}));
    const bool fits = classes ? model.kind == "softmax" || model.kind == "mlp" : model.kind == data;
    if (!fits)
      source_.error(kind != nullptr ? *kind : root_,
                    fmt::format("model `{}` does not fit data `{}`", model.kind, data),
                    classes ? "use `softmax` or `mlp`" : fmt::format("use `{}`", data));
    if (model.kind == "mlp") {
      if (const Value* hidden = map.take("hidden")) {
        model.hidden.clear();
        if (hidden->kind != Value::Kind::sequence || hidden->items.empty())
          source_.error(*hidden, "expected a list of widths, such as [256, 128]");
        for (const Value& width : hidden->items)
          model.hidden.push_back(
              static_cast<std::uint32_t>(read_count(source_, width, 1, 1'000'000).value_or(1)));
      }
    }
    map.finish();
  }

  void read_train(const Value* value) {
    MapReader map(source_, value, "train");
    read_optimizer(map.take("optimizer"));
    set(map.take("batch"), batch_, count(1, 1'000'000));
    set(map.take("local_steps"), fleet_.local_steps, count(1, 1'000'000));
    map.finish();
  }

  void read_optimizer(const Value* value) {
    MapReader map(source_, value, "train.optimizer", true);
    OptimizerSpec& o = fleet_.optimizer;
    set(map.take("kind"), o.kind, choice({"sgd", "adam"}));
    if (o.kind == "adam") o.lr = 1e-3;
    set(map.take("lr"), o.lr, number(0, 1e6));
    set(map.take("weight_decay"), o.weight_decay, number(0, 1e6));
    if (o.kind == "sgd") {
      const Value* nesterov = map.take("nesterov");
      set(map.take("momentum"), o.momentum, number(0, 0.999999));
      set(nesterov, o.nesterov, flag());
      if (o.nesterov && o.momentum == 0)
        source_.error(*nesterov, "nesterov needs a momentum above 0");
    } else {
      set(map.take("beta1"), o.beta1, number(0, 0.999999));
      set(map.take("beta2"), o.beta2, number(0, 0.999999999));
      set(map.take("epsilon"), o.epsilon, number(1e-30, 1));
    }
    read_schedule(map.take("schedule"));
    set(map.take("warmup"), o.schedule.warmup, count(0, 1'000'000'000));
    map.finish();
  }

  void read_schedule(const Value* value) {
    MapReader map(source_, value, "train.optimizer.schedule", true);
    Schedule& s = fleet_.optimizer.schedule;
    set(map.take("kind"), s.kind, choice({"constant", "step", "cosine", "lian"}));
    if (s.kind == "step") {
      if (const Value* every = map.take("every")) {
        if (const auto e = read_every(source_, *every, {"step"}))
          s.every = static_cast<std::uint64_t>(std::max(1.0, e->count));
      }
      set(map.take("factor"), s.factor, number(0, 1));
    }
    if (s.kind == "lian") {
      set(map.take("lipschitz"), s.lipschitz, number(1e-12, 1e12));
      set(map.take("sigma"), s.sigma, number(0, 1e12));
    }
    map.finish();
  }

  void read_algorithm(const Value* value) {
    MapReader map(source_, value, "algorithm", true);
    std::vector<std::string> kinds;
    for (const AlgorithmRow& row : algorithms()) {
      if (kinds.empty() || kinds.back() != row.kind) kinds.emplace_back(row.kind);
    }
    const Value* kind = map.take("kind");
    set(kind, fleet_.algorithm, choice(kinds));
    std::vector<std::string> orders;
    for (const AlgorithmRow& row : algorithms()) {
      if (row.kind == fleet_.algorithm && !row.order.empty()) orders.emplace_back(row.order);
    }
    if (!orders.empty()) {
      fleet_.order = orders[0];
      set(map.take("order"), fleet_.order, choice(orders));
    }
    map.finish();
    if (fleet_.algorithm == "all-reduce" && fleet_.local_steps != 1) {
      source_.error(kind != nullptr ? *kind : root_,
                    "all-reduce averages every gradient: train.local_steps must be 1");
    }
  }

  void read_simulate(const Value* value) {
    MapReader map(source_, value, "simulate");
    set(map.take("flops"), fleet_.flops, [this](const Value& v) { return read_flops(source_, v); });
    map.finish();
  }

  void read_stop(const Value* value) {
    MapReader map(source_, value, "stop");
    const Value* rounds = map.take("rounds");
    const Value* epochs = map.take("epochs");
    const Value* time = map.take("time");
    if (rounds != nullptr) fleet_.stop.rounds = read_count(source_, *rounds, 1, 1'000'000'000'000);
    if (epochs != nullptr) fleet_.stop.epochs = read_number(source_, *epochs, 1e-6, 1e9);
    if (time != nullptr) fleet_.stop.time = read_duration(source_, *time);
    MapReader target(source_, map.take("target"), "stop.target");
    if (const Value* accuracy = target.take("accuracy"))
      fleet_.stop.accuracy = read_fraction(source_, *accuracy);
    target.finish();
    map.finish();
    const StopSpec& s = fleet_.stop;
    if (!s.rounds && !s.epochs && !s.time && !s.accuracy && source_.diagnostics().empty()) {
      source_.error(value != nullptr ? *value : root_,
                    "nothing says when to stop",
                    "add `stop: { rounds: 1000 }`, or epochs, time or target");
    }
  }

  void read_evaluate(const Value* value) {
    MapReader map(source_, value, "evaluate");
    if (const Value* every = map.take("every")) {
      if (const auto e = read_every(source_, *every, {"round", "epoch"})) {
        if (e->unit == "epoch")
          fleet_.evaluate_every_epochs = e->count;
        else if (e->count == std::floor(e->count))
          fleet_.evaluate_every = static_cast<std::uint64_t>(e->count);
        else
          source_.error(*every, "rounds are whole");
      }
    }
    map.finish();
  }

  void read_checkpoint(const Value* value) {
    MapReader map(source_, value, "checkpoint");
    if (const Value* every = map.take("every")) {
      const auto e = read_every(source_, *every, {"round"});
      if (e && e->count == std::floor(e->count))
        fleet_.checkpoint.every = static_cast<std::uint64_t>(e->count);
      else if (e)
        source_.error(*every, "rounds are whole");
    }
    set(map.take("keep"), fleet_.checkpoint.keep, count(1, 1000));
    map.finish();
  }

  void read_faults(const Value* value) {
    MapReader map(source_, value, "faults");
    const Value* heartbeat = map.take("heartbeat");
    const Value* dead_after = map.take("dead_after");
    FaultSpec& faults = fleet_.faults;
    set(heartbeat, faults.heartbeat, duration());
    set(dead_after, faults.dead_after, duration());
    set(map.take("deadline"), faults.deadline, duration());
    set(map.take("ledger"), faults.ledger, [this](const Value& v) {
      return read_bool(source_, v);
    });
    set(map.take("min_peers"), faults.min_peers, count(1, std::max<PeerId>(1, fleet_.size())));
    map.finish();
    const Value* wrong = heartbeat != nullptr ? heartbeat : dead_after;
    if (wrong != nullptr &&
        (faults.heartbeat <= Time{0} || faults.dead_after < 2 * faults.heartbeat)) {
      source_.error(*wrong,
                    "dead_after must be at least two heartbeats, and a heartbeat takes time",
                    "the defaults are `heartbeat: 0.5 s` and `dead_after: 5 s`");
    }
  }

  void read_launch(const Value* value) {
    MapReader map(source_, value, "launch");
    set(map.take("grace"), fleet_.grace, duration());
    std::string restart = "never";
    set(map.take("restart"), restart, choice({"never", "on-failure"}));
    fleet_.restart = restart == "on-failure";
    map.finish();
  }

  void read_output(const Value* value) {
    fleet_.output_dir = "runs/{name}";
    MapReader map(source_, value, "output");
    set(map.take("dir"), fleet_.output_dir, word());
    map.finish();
    if (const auto at = fleet_.output_dir.find("{name}"); at != std::string::npos)
      fleet_.output_dir.replace(at, 6, fleet_.name);
  }

  std::vector<std::string>* notices_;
  Value root_;
  Fleet fleet_;
  std::filesystem::path folder_;
  std::uint32_t batch_ = 32;
};

}  // namespace

Fleet read_fleet(const std::string& path,
                 const std::vector<std::string>& sets,
                 std::vector<std::string>* notices) {
  Source source(path);
  return FleetReader(source, path, sets, notices).read();
}

}  // namespace gv
