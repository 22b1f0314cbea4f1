#include "peer/study/sweep/plan/sweep_file.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/read/sections.h"
#include "peer/record/runs/stored_run.h"

namespace gv {
namespace {

class SweepFileReader : Readers {
 public:
  explicit SweepFileReader(Source& source) : Readers(source) { file_.path = source.path(); }

  SweepFile read() {
    root_ = source_.parse_file();
    if (!source_.diagnostics().empty()) return file_;
    MapReader top(source_, &root_, "");
    if (!top.present()) return file_;
    read_version(top.take("version"));
    read_name(top.take("name"));
    read_base(top.take("base"));
    read_place(top);
    file_.axes = read_axes(source_, top.take("vary"));
    read_skip(top.take("skip"));
    read_seeds(top.take("seeds"));
    read_target(top.take("target"));
    read_tune(top.take("tune"));
    read_expect(top.take("expect"));
    read_picture(top.take("picture"));
    read_keep(top.take("keep"));
    read_output(top.take("output"));
    top.finish();
    return std::move(file_);
  }

 private:
  void read_version(const Value* version) {
    if (version == nullptr)
      source_.error(Place{1, 1, ""}, 1, "missing key `version`",
                    "begin the file with `version: 1`");
    else if (version->text != "1")
      source_.error(*version, fmt::format("version {} is not known here", version->text),
                    "this Grapevine reads version 1; a newer file needs a newer Grapevine");
  }

  void read_name(const Value* value) {
    file_.name = std::filesystem::path(file_.path).stem().string();
    set(value, file_.name, word());
    constexpr std::size_t longest = 100;
    if (file_.name.size() > longest || !is_printable(file_.name) || file_.name.starts_with('.') ||
        file_.name.find('/') != std::string::npos)
      source_.error(value != nullptr ? *value : root_,
                    "the sweep's name cannot be that of a folder",
                    "write a `name` of letters, digits and `-`, such as `networks`");
  }

  void read_base(const Value* value) {
    if (value == nullptr)
      return source_.error(root_, "missing key `base`",
                           "name the fleet file that is varied: `base: ../fashion-ring8.yaml`");
    set(value, file_.base, word());
    const auto folder = std::filesystem::path(file_.path).parent_path();
    file_.base = (folder / file_.base).lexically_normal().string();
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file_.base, ignored))
      source_.error(*value, fmt::format("{}: there is no such file", file_.base),
                    "the path is taken from the folder of the sweep file");
  }

  void read_place(MapReader& top) {
    std::string place = "simulate";
    set(top.take("in"), place, choice({"simulate", "run"}));
    file_.simulated = place == "simulate";
    const Value* parallel = top.take("parallel");
    set(parallel, file_.parallel, count(1, 1024));
    if (parallel != nullptr && file_.simulated)
      source_.error(*parallel, "`parallel` needs `in: run`",
                    "simulated trials run on all cores; --workers takes fewer");
  }

  void read_skip(const Value* value) {
    if (value == nullptr) return;
    if (value->kind != Value::Kind::sequence)
      return source_.error(*value, "expected a list, such as `[{ method: server, network: dsl }]`");
    for (const Value& item : value->items)
      file_.skip.push_back(read_pattern(source_, item, file_.axes));
  }

  void read_seeds(const Value* value) {
    if (value == nullptr) return;
    if (value->kind != Value::Kind::sequence)
      return set(value, file_.seed_count, count(1, most_sweep_seeds));
    if (value->items.empty() || value->items.size() > most_sweep_seeds)
      return source_.error(*value, fmt::format("expected 1 to {} seeds", most_sweep_seeds));
    for (const Value& item : value->items) {
      const auto seed = read_count(source_, item, 0, std::numeric_limits<std::uint64_t>::max());
      if (!seed) continue;
      if (std::ranges::count(file_.seeds, *seed) > 0)
        source_.error(item, fmt::format("seed {} is listed twice", *seed));
      file_.seeds.push_back(*seed);
    }
    file_.seed_count = file_.seeds.size();
  }

  void read_target(const Value* value) {
    if (value != nullptr) file_.target = gv::read_target(source_, *value, "target");
  }

  void read_tune(const Value* value) {
    if (value == nullptr) return;
    TuningSpec tune;
    MapReader map(source_, value, "tune");
    const Value* with = map.take("with");
    const Value* trials = map.take("trials");
    set(trials, tune.trials, count(2, most_tuning_trials));
    set(map.take("by"), tune.by, choice({"grid", "random", "halving", "asha"}));
    set(map.take("seeds"), tune.seeds, count(1, most_sweep_seeds));
    map.finish();
    if (!map.present()) return;
    if (with == nullptr || with->kind != Value::Kind::map || with->entries.empty())
      return source_.error(with != nullptr ? *with : *value, "no key to tune is named",
                           "add `with: { train.optimizer.lr: { log: [0.003, 0.3] } }`");
    for (const Value::Entry& entry : with->entries) read_knob(entry, tune);
    if (tune.by == "grid")
      check_grid(trials != nullptr ? *trials : *value, trials != nullptr, tune);
    file_.tune = std::move(tune);
  }

  /// Rejects a grid with too many points: each value of a list must be in it.
  void check_grid(const Value& at, bool limited, const TuningSpec& tune) {
    std::size_t points = 1;
    for (const TuningKnob& knob : tune.knobs)
      if (knob.of.empty()) points *= std::max<std::size_t>(1, knob.words.size());
    const std::size_t most = limited ? tune.trials : most_tuning_trials;
    if (points > most)
      source_.error(at,
                    fmt::format("the lists make a grid of {} points, for {} trials", points, most),
                    limited ? "set `trials` to that number, shorten a list, or take `by: random`"
                            : "shorten a list, or take `by: random`");
  }

  void read_knob(const Value::Entry& entry, TuningSpec& tune) {
    TuningKnob knob;
    knob.key = entry.key;
    knob.place = entry.place;
    check_sweep_key(source_, knob.key, knob.place);
    if (entry.value.kind == Value::Kind::sequence)
      read_words(entry.value, knob);
    else
      read_range(entry, knob);
    for (const SweepAxis& axis : file_.axes)
      for (const SweepValue& value : axis.values)
        for (const SweepSet& set : value.sets)
          if (set.key == knob.key) return say_varied(entry, axis.name);
    tune.knobs.push_back(std::move(knob));
  }

  void say_varied(const Value::Entry& entry, const std::string& axis) {
    source_.error(entry.place, static_cast<int>(entry.key.size()),
                  fmt::format("`{}` is set by the axis `{}` and tuned, too", entry.key, axis),
                  "take it out of one of the two");
  }

  void read_words(const Value& value, TuningKnob& knob) {
    for (const Value& item : value.items) knob.words.push_back(flow_text(item));
    if (knob.words.size() < 2 || knob.words.size() > most_sweep_values)
      source_.error(value, fmt::format("expected 2 to {} values to try", most_sweep_values));
  }

  void read_range(const Value::Entry& entry, TuningKnob& knob) {
    MapReader map(source_, &entry.value, "tune.with." + entry.key);
    if (!map.present()) return;
    const Value* log = map.take("log");
    const Value* lin = map.take("lin");
    set(map.take("whole"), knob.whole, flag());
    if (const Value* of = map.take("of")) knob.of = read_pattern(source_, *of, file_.axes);
    if (const Value* list = map.take("list")) read_words(*list, knob);
    map.finish();
    if ((log == nullptr) == (lin == nullptr)) {
      if (knob.words.empty() || log != nullptr)
        source_.error(entry.value, "expected one range, or a list of values",
                      "write `{ log: [0.003, 0.3] }`, `{ lin: [0.1, 0.9] }` or `[16, 32, 64]`");
      return;
    }
    knob.scale = log != nullptr ? TuningKnob::Scale::log : TuningKnob::Scale::lin;
    read_ends(log != nullptr ? *log : *lin, knob);
  }

  void read_ends(const Value& value, TuningKnob& knob) {
    if (value.kind != Value::Kind::sequence || value.items.size() != 2)
      return source_.error(value, "a range has two ends, such as `[0.003, 0.3]`");
    const auto low = read_number(source_, value.items[0], -1e300, 1e300);
    const auto high = read_number(source_, value.items[1], -1e300, 1e300);
    if (!low || !high) return;
    knob.low = *low;
    knob.high = *high;
    if (knob.scale == TuningKnob::Scale::log && *low <= 0)
      source_.error(value.items[0], "a `log` range begins above 0",
                    "its points are even in the logarithm; `lin` may begin anywhere");
    else if (!(*low < *high))
      source_.error(value, "this range is empty: its first end is not below its second");
  }

  void read_expect(const Value* value) {
    if (value == nullptr) return;
    if (value->kind != Value::Kind::sequence)
      return source_.error(*value, "expected a list, such as `[\"gossip < all-reduce @ time\"]`");
    for (const Value& item : value->items) {
      const auto text = read_word(source_, item);
      if (text && !is_printable(*text)) source_.error(item, "this is not printable");
      if (text) file_.expect.push_back(*text);
    }
  }

  void read_picture(const Value* value) {
    if (value == nullptr) return;
    SweepPicture picture;
    MapReader map(source_, value, "picture");
    const Value* x = map.take("x");
    set(x, picture.x, word());
    set(map.take("name"), picture.name, word());
    set(map.take("y"), picture.y,
        choice({"time", "speed-up", "rounds", "samples", "bytes", "accuracy", "loss"}));
    set(map.take("model"), picture.model, flag());
    map.finish();
    if (x == nullptr)
      return source_.error(*value, "missing key `x`",
                           "name an axis of `vary` whose values are numbers");
    const auto axis = std::ranges::find(file_.axes, picture.x, &SweepAxis::name);
    if (axis == file_.axes.end())
      return source_.error(*x, fmt::format("`{}` is no axis of `vary`", picture.x),
                           "costs are drawn against an axis whose values are numbers");
    for (const SweepValue& axis_value : axis->values)
      if (!numbered_label(axis_value.label))
        return source_.error(*x,
                             fmt::format("`{}` of the axis `{}` is not a number with a known unit",
                                         axis_value.label, picture.x),
                             "name an axis whose values are such as 0.1, 5 ms or easgd-16");
    file_.picture = std::move(picture);
  }

  void read_keep(const Value* value) {
    std::string keep = "figures";
    set(value, keep, choice({"figures", "model"}));
    file_.keep_models = keep == "model";
  }

  void read_output(const Value* value) {
    file_.output_dir = "runs/{name}";
    MapReader map(source_, value, "output");
    set(map.take("dir"), file_.output_dir, word());
    map.finish();
    if (const auto at = file_.output_dir.find("{name}"); at != std::string::npos)
      file_.output_dir.replace(at, 6, file_.name);
    file_.output_dir = with_home(file_.output_dir);
  }

  Value root_;
  SweepFile file_;
};

}  // namespace

// clang-format off
const std::vector<KeyRow>& sweep_file_keys() {
  static const std::vector<KeyRow> rows{
      {"sweep", "a map", "", "Sweep file: a fleet file, and keys to vary and to tune.",
       "grapevine sweep configs/sweeps/rivals.yaml"},
      {"sweep.version", "1", "", "Version of the format. Required.", "version: 1"},
      {"sweep.name", "a word", "the file's name", "Name of the sweep.", "name: networks"},
      {"sweep.base", "a path", "",
       "Fleet file that is varied; the path begins at the sweep file's folder. Required.",
       "base: ../digits-torus16.yaml"},
      {"sweep.in", "simulate, run", "simulate", "Virtual time or real processes.", "in: run"},
      {"sweep.parallel", "1 to 1,024", "1",
       "Number of simultaneous runs, with `in: run`.", "parallel: 2"},
      {"sweep.vary", "axes", "one cell",
       "Axes. An axis is a key of the fleet file with a list of values, or a name with named "
       "patches of the fleet file. Each combination of values is a cell.",
       "vary: { train.batch: [16, 32] }"},
      {"sweep.skip", "a list of patterns", "none",
       "Cells to leave out: maps from axes to labels.", "skip: [{ method: server, peers: 64 }]"},
      {"sweep.seeds", "1 to 1,000, or a list", "1",
       "Number of seeds of each cell, from the fleet file's seed on; or a list.", "seeds: 6"},
      {"sweep.target", "as `stop.target`", "none",
       "Figure whose cost in time, rounds and bytes is compared.", "target: { accuracy: 0.9 }"},
      {"sweep.tune", "a map", "none", "Tuning of keys for each cell's method before the trials.",
       "tune: { with: { train.optimizer.lr: { log: [0.01, 1] } } }"},
      {"sweep.tune.with", "a map", "",
       "Keys to tune, each with a range or a list of values. Required.",
       "tune: { with: { train.batch: [16, 32, 64] } }"},
      {"sweep.tune.with.KEY.log", "[low, high]", "",
       "Range whose points are even in the logarithm.",
       "tune: { with: { train.optimizer.lr: { log: [0.01, 1] } } }"},
      {"sweep.tune.with.KEY.lin", "[low, high]", "", "Range whose points are even.",
       "tune: { with: { train.optimizer.momentum: { lin: [0, 0.9] } } }"},
      {"sweep.tune.with.KEY.list", "a list", "",
       "Values to try.", "tune: { with: { train.batch: { list: [16, 32] } } }"},
      {"sweep.tune.with.KEY.whole", "true, false", "false",
       "Rounds the points of a range to whole numbers.",
       "tune: { with: { train.batch: { lin: [8, 64], whole: true } } }"},
      {"sweep.tune.with.KEY.of", "a pattern", "all cells", "Cells in which the key is tuned.",
       "tune: { with: { algorithm.beta: { lin: [0, 0.9], of: { method: slowmo } } } }"},
      {"sweep.tune.trials", "2 to 10,000", "8",
       "Number of points for each method, the fleet file's own included.",
       "tune: { with: { train.batch: [16, 32] }, trials: 4 }"},
      {"sweep.tune.by", "grid, random, halving, asha", "random",
       "Choice of the points, and of how long each is trained.",
       "tune: { with: { train.batch: [16, 32] }, by: grid }"},
      {"sweep.tune.seeds", "1 to 1,000", "2", "Number of tuning seeds; none of them is reported.",
       "tune: { with: { train.batch: [16, 32] }, seeds: 1 }"},
      {"sweep.expect", "a list of texts", "none",
       "Expectations that `compare` checks; exit code 4 if one does not hold.",
       "expect: [\"gossip < all-reduce @ time\"]"},
      {"sweep.picture", "a map with `x`", "a race",
       "Picture of --answer: costs against an axis.", "picture: { x: peers }"},
      {"sweep.picture.x", "an axis", "",
       "Axis of numbers that the costs are drawn against. Required.", "picture: { x: peers }"},
      {"sweep.picture.name", "a text", "the axis",
       "Title of that axis.", "picture: { x: peers, name: number of peers }"},
      {"sweep.picture.y", "time, speed-up, rounds, samples, bytes, accuracy, loss", "time",
       "Cost that is drawn.", "picture: { x: peers, y: speed-up }"},
      {"sweep.picture.model", "true, false", "false",
       "Draws the prediction as well.", "picture: { x: peers, model: true }"},
      {"sweep.keep", "figures, model", "figures",
       "Part of each trial that is kept besides its figures.", "keep: model"},
      {"sweep.output", "a map", "", "Place of the sweep's files.", "output: { dir: runs/tuned }"},
      {"sweep.output.dir", "a path", "runs/{name}",
       "Folder of the sweep; {name} is its name.", "output: { dir: runs/tuned }"},
  };
  return rows;
}
// clang-format on

SweepFile read_sweep_file(Source& source) {
  return SweepFileReader(source).read();
}

}  // namespace gv
