#include "peer/fleet/data/data_reader.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/fleet/file/source.h"
#include "peer/fleet/keys/key_words.h"

namespace gv {
namespace {

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const DataKind& row : data_kinds()) names.push_back(row.kind);
  return names;
}

/// Reads the keys of the kind's row and the keys common to all kinds.
class DataReader : Readers {
 public:
  DataReader(Source& source,
             const Value& at,
             const std::filesystem::path& folder,
             PeerId peers,
             std::vector<std::string>* notices)
      : Readers(source), at_(at), folder_(folder), peers_(peers), notices_(notices) {}

  DataSpec read(const Value* value) {
    MapReader map(source_, value, "data", true);
    set(map.take("kind"), data_.kind, choice(kind_names()));
    // Kept, because a fallback may change data_.kind.
    const DataKind& row = find_data_kind(data_.kind);
    DataReading from = reading(map, row);
    row.read(from);
    if (row.form == DataForm::pictures) read_augment(map);
    set_content();
    if (row.divided) {
      from.servers();
      read_partition(map.take("partition"));
      read_validation(map.take("validation", "none"), row);
    }
    if (data_.per_peer()) check_per_peer();
    map.finish();
    check_drawn();
    return data_;
  }

  DataSpec read_program(const Value* value) {
    data_.kind = program_data().kind;
    MapReader map(source_, value, "data", true);
    DataReading from = reading(map, program_data());
    program_data().read(from);
    read_partition(map.take("partition"));
    map.finish();
    return data_;
  }

 private:
  DataReading reading(MapReader& map, const DataKind& row) {
    return {.source = source_,
            .map = map,
            .at = at_,
            .folder = folder_,
            .peers = peers_,
            .notices = notices_,
            .row = row,
            .data = data_};
  }

  /// Limits the numbers that every process draws, before they take minutes and too much memory.
  void check_drawn() {
    constexpr std::uint64_t most = 500'000'000;
    const DataKind& row = find_data_kind(data_.kind);
    const std::uint64_t width = row.drawn != nullptr ? row.drawn(data_) : 0;
    const std::uint64_t rows = std::uint64_t{data_.train} + data_.test;
    if (width == 0 || rows <= most / width) return;
    source_.error(at_,
                  fmt::format("{} samples of {} numbers are too many to draw: at most {} numbers",
                              rows, width, most),
                  "take fewer samples (`train`, `test`) or shorter ones");
  }

  /// Sets the digest if the files are readable; otherwise load_data reports which one is not.
  void set_content() {
    const DataKind& row = find_data_kind(data_.kind);
    if (row.files == nullptr) return;
    try {
      data_.content = content_of(row.files(data_));
    } catch (const std::runtime_error&) {
      data_.content.clear();
    }
  }

  void read_augment(MapReader& map) {
    std::string augment = "none";
    map.choose("augment", augment);
    data_.augment = {.crop = augment.starts_with("crop"), .flip = augment.ends_with("flip")};
  }

  /// Reads a share of the training samples or, for kinds with files, the path of a separate set.
  void read_validation(const Value* value, const DataKind& row) {
    if (value == nullptr) return;
    if (!row.validation || is_share(value->text)) return read_validation_share(*value);
    data_.validation_file = gv::read_path(source_, *value, folder_);
    if (data_.validation_file.empty()) return;
    const bool folder = row.validation->folder;
    const std::string missing =
        folder ? no_folder(data_.validation_file) : no_file(data_.validation_file);
    if (!missing.empty())
      return source_.error(*value,
                           fmt::format("no such {}: {}", folder ? "folder" : "file", missing),
                           "name a file or folder like that of `test`, or a part of the training "
                           "samples such as 10 %");
    try {
      data_.validation_content =
          content_of(row.validation->files != nullptr ? row.validation->files(data_)
                                                      : std::vector{data_.validation_file});
    } catch (const std::exception& e) {
      source_.error(*value, e.what());
    }
  }

  /// Returns whether the text is a share: "0.1", "10 %".
  static bool is_share(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789.% ") == std::string::npos;
  }

  void read_validation_share(const Value& value) {
    data_.validation = read_fraction(source_, value).value_or(0.1);
    if (data_.validation <= 0 || data_.validation >= 1)
      source_.error(value, "the validation set is a part between 0 and 1",
                    "write `validation: 10 %`");
    if (data_.per_peer())
      source_.error(value,
                    "each peer has its own file, so no peer can hold back a part of all samples",
                    "name a `validation` file that all peers have");
  }

  void read_partition(const Value* value) {
    MapReader map(source_, value, "data.partition", true);
    PartitionSpec& p = data_.partition;
    const Value* kind = map.choose("kind", p.kind);
    const bool by_class = p.kind == "by-label" || p.kind == "by-class";
    if (form_of(data_) == DataForm::text && (by_class || p.kind.starts_with("dirichlet")))
      source_.error(*kind, "a text has no labels to divide it by", "use `iid` or `quantity`");
    if (p.kind.starts_with("dirichlet")) map.read("alpha", p.alpha);
    if (p.kind == "dirichlet") map.read("min_samples", p.min_samples);
    if (by_class) map.read("classes_per_peer", p.classes_per_peer);
    if (p.kind == "quantity") {
      const Value* sizes = map.take("sizes");
      const Takes& range = key_range("data.partition.sizes");
      if (sizes != nullptr) p.sizes = read_numbers(source_, *sizes, range.least, range.most);
      if (sizes == nullptr)
        source_.error(*value, "partition `quantity` needs `sizes`, one number per peer");
      else if (p.sizes.size() != peers_)
        source_.error(*sizes, fmt::format("{} sizes for {} peers", p.sizes.size(), peers_));
    }
    map.finish();
  }

  /// Checks per-peer files: each peer has only its own samples.
  void check_per_peer() {
    data_.partition.kind = "own";
    if (data_.servers > 0)
      source_.error(at_, "data servers cannot serve samples from per-peer files",
                    "leave out `servers`, or `{id}` in `file`");
    const Value::Entry* partition = at_.kind == Value::Kind::map ? at_.find("partition") : nullptr;
    if (partition != nullptr)
      source_.error(partition->value, "each peer has a file of its own: there is nothing to divide",
                    "leave out `partition`, or `{id}` in `file`");
  }

  const Value& at_;
  const std::filesystem::path& folder_;
  PeerId peers_;
  std::vector<std::string>* notices_;
  DataSpec data_;
};

const NumberRange& range_of(const DataKind& row, std::string_view key) {
  const auto found = std::ranges::find(row.keys, key, &DataKey::name);
  if (found == row.keys.end() || !found->number)
    throw std::logic_error(fmt::format("data kind `{}` has no number `{}`", row.kind, key));
  return *found->number;
}

}  // namespace

DataSpec read_data(Source& source,
                   const Value& root,
                   const Value* value,
                   const std::filesystem::path& folder,
                   PeerId peers,
                   std::vector<std::string>* notices) {
  return DataReader(source, value != nullptr ? *value : root, folder, peers, notices).read(value);
}

DataSpec read_program_data(Source& source, const Value* value, PeerId peers) {
  return DataReader(source, {}, {}, peers, nullptr).read_program(value);
}

double DataReading::number(std::string_view key) {
  return number(key, map.take(std::string(key)));
}

double DataReading::number(std::string_view key, const Value* value) {
  const NumberRange& range = range_of(row, key);
  if (value == nullptr) return range.usual;
  if (!range.whole)
    return read_number(source, *value, range.least, range.most).value_or(range.usual);
  const auto count = read_count(source, *value, static_cast<std::uint64_t>(range.least),
                                static_cast<std::uint64_t>(range.most));
  return count ? static_cast<double>(*count) : range.usual;
}

std::uint32_t DataReading::whole(std::string_view key) {
  return static_cast<std::uint32_t>(number(key));
}

void DataReading::sizes() {
  data.train = whole("train");
  data.test = whole("test");
}

void DataReading::servers() {
  set(map.take("servers", "none"), data.servers,
      [&](const Value& value) { return read_count(source, value, "data.servers"); });
}

std::string DataReading::path(const Value* value, std::string_view key, const std::string& help) {
  if (value != nullptr) return read_path(source, *value, folder);
  source.error(at, fmt::format("data of kind `{}` needs `{}`", row.kind, key), help);
  return "";
}

const DataKind& program_data() {
  const Takes& samples = key_range("data.samples");
  static const DataKind row{
      .kind = "program",
      .form = DataForm::oracle,
      .summary = "a program's own",
      .keys = {{.name = "samples", .number = whole_number(0, samples.least, samples.most)}},
      .read = [](DataReading& from) {
        from.map.take("kind");     // check_program refuses this key (sections.h)
        from.map.take("servers");  // and this one
        from.data.train = from.whole("samples");
        from.data.test = 0;
      }};
  return row;
}

}  // namespace gv
