#include "peer/fleet/data_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "optim/data/cifar10.h"
#include "optim/data/dataset.h"
#include "optim/data/images/image_folder.h"
#include "optim/rl/environments.h"
#include "peer/fleet/agent_reader.h"
#include "peer/fleet/content.h"
#include "peer/fleet/held_out_reader.h"
#include "peer/fleet/named_path.h"
#include "peer/fleet/readers.h"
#include "peer/fleet/table_reader.h"

namespace gv {
namespace {

struct DataKind {
  const char* kind;
  DataForm form;
};
constexpr DataKind data_kinds[] = {{"idx", DataForm::pictures},
                                   {"digits", DataForm::pictures},
                                   {"cifar10", DataForm::pictures},
                                   {"text", DataForm::text},
                                   {"linear", DataForm::targets},
                                   {"quadratic", DataForm::oracle},
                                   {"blobs", DataForm::rows},
                                   {"teacher", DataForm::rows},
                                   {"sparse", DataForm::sparse},
                                   {"libsvm", DataForm::sparse},
                                   {"table", DataForm::rows},
                                   {"images", DataForm::pictures},
                                   {"environment", DataForm::rows}};

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const DataKind& row : data_kinds) names.emplace_back(row.kind);
  return names;
}

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
    const std::string kind = data_.kind;  // a fallback may change it
    if (kind == "digits" || kind == "linear" || kind == "blobs" || kind == "idx" ||
        kind == "sparse" || kind == "teacher")
      read_sizes(map);
    if (kind == "idx") read_idx(map);
    if (kind == "cifar10") read_cifar10(map);
    if (kind == "text") read_text(map);
    if (kind == "sparse") read_sparse(map);
    if (kind == "libsvm") read_libsvm(map);
    if (kind == "table")
      read_table_keys(
          source_, map, value != nullptr ? *value : at_, folder_, peers_, data_, notices_);
    if (kind == "images") read_images(map);
    if (kind == "idx" || kind == "digits" || kind == "cifar10" || kind == "images")
      read_augment(map);
    if (kind == "linear" || kind == "blobs")
      set(map.take("features"), data_.features, count(1, 1'000'000));
    if (kind == "linear") set(map.take("noise"), data_.noise, number(0, 1e6));
    if (kind == "blobs") {
      set(map.take("classes"), data_.classes, count(2, 256));
      set(map.take("separation"), data_.separation, number(0, 1e6));
    }
    if (kind == "teacher") read_teacher(map);
    set_content();
    if (kind == "environment") {
      read_environment(source_, at_, map, data_);
    } else {
      set(map.take("servers"), data_.servers, count(1, 1000));
      if (kind == "quadratic")
        read_quadratic(map);
      else
        read_partition(map.take("partition"));
      read_validation(map.take("validation"));
    }
    if (data_.per_peer()) check_per_peer(source_, value != nullptr ? *value : at_, data_);
    map.finish();
    check_drawn(value != nullptr ? *value : at_);
    return data_;
  }

  DataSpec read_program(const Value* value) {
    constexpr std::uint64_t most = 4'000'000'000;
    data_.kind = "program";
    data_.train = 0;
    data_.test = 0;
    MapReader map(source_, value, "data", true);
    map.take("kind");     // is refused beside `program` (program_reader.h)
    map.take("servers");  // and so is this
    set(map.take("samples"), data_.train, count(1, most));
    read_partition(map.take("partition"));
    map.finish();
    return data_;
  }

 private:
  /// Numbers that every process draws for itself: more would take minutes and memory that is not
  /// there, before anything is said.
  void check_drawn(const Value& at) {
    constexpr std::uint64_t most = 500'000'000;
    constexpr std::uint64_t digit_pixels = 28 * 28;
    const bool dense = data_.kind == "blobs" || data_.kind == "linear" || data_.kind == "teacher";
    const std::uint64_t width = data_.kind == "sparse"   ? data_.nonzeros
                                : data_.kind == "digits" ? digit_pixels
                                : dense                  ? data_.features
                                                         : 0;
    const std::uint64_t rows = std::uint64_t{data_.train} + data_.test;
    if (width == 0 || rows <= most / width) return;
    source_.error(
        at,
        fmt::format("{} samples of {} numbers are to be drawn, and {} numbers are the most",
                    rows,
                    width,
                    most),
        "take fewer samples (`train`, `test`) or shorter ones");
  }

  /// The files that hold all samples of the fleet, so that all peers must have the same.
  std::vector<std::string> shared_files() const {
    if (data_.kind == "idx") return idx_files(data_.dir);
    if (data_.kind == "cifar10") return cifar10_files(data_.dir);
    if (data_.kind == "libsvm" && !data_.test_file.empty()) return {data_.file, data_.test_file};
    if (data_.kind == "libsvm" || data_.kind == "text") return {data_.file};
    return {};
  }

  /// Sets it where the files can be read: load_data says which one cannot, and what it lacks.
  void set_content() {
    try {
      if (const auto files = shared_files(); !files.empty()) data_.content = content_of(files);
    } catch (const std::runtime_error&) {
      data_.content.clear();
    }
  }

  void read_sizes(MapReader& map) {
    set(map.take("train"), data_.train, count(1, 100'000'000));
    set(map.take("test"), data_.test, count(1, 100'000'000));
  }

  /// Relative to the fleet file; empty when the key is missing.
  std::string read_path(const Value* value, const char* key, const char* help) {
    if (value != nullptr) return gv::read_path(source_, *value, folder_);
    source_.error(at_, fmt::format("data of kind `{}` needs `{}`", data_.kind, key), help);
    return "";
  }

  /// A share of the training samples; of what lies in files of one's own, a set in a file or
  /// folder.
  void read_validation(const Value* value) {
    if (value == nullptr) return;
    if (data_.kind == "quadratic")
      return source_.error(*value, "a quadratic has no samples, and is looked at exactly");
    const bool own = data_.kind == "table" || data_.kind == "images" || data_.kind == "libsvm";
    if (!own || is_share(value->text)) return read_validation_share(*value);
    data_.validation_file = gv::read_path(source_, *value, folder_);
    if (data_.validation_file.empty()) return;
    const bool images = data_.kind == "images";
    const std::string missing =
        images ? no_folder(data_.validation_file) : no_file(data_.validation_file);
    if (!missing.empty())
      return source_.error(
          *value,
          fmt::format("no such {}: {}", images ? "folder" : "file", missing),
          "a set as `test` is one, or a share of the training samples such as 10 %");
    try {
      data_.validation_content =
          content_of(images ? find_images(data_.dir, data_.validation_file).paths()
                            : std::vector{data_.validation_file});
    } catch (const std::exception& e) {
      source_.error(*value, e.what());
    }
  }

  /// "0.1", "10 %".
  static bool is_share(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789.% ") == std::string::npos;
  }

  void read_validation_share(const Value& value) {
    data_.validation = read_fraction(source_, value).value_or(0.1);
    if (data_.validation <= 0 || data_.validation >= 1)
      source_.error(value, "a part between 0 and 1 is set apart", "write `validation: 10 %`");
    if (data_.per_peer())
      source_.error(
          value,
          "with a file of its own for each peer, a part of all samples is nobody's to take",
          "name a `validation` file that all of them have");
  }

  void read_idx(MapReader& map) {
    const Value* dir = map.take("dir");
    set(map.take("fallback"), data_.fallback, choice({"digits"}));
    data_.dir = read_path(
        dir, "dir", "the folder of train-images-idx3-ubyte[.gz] and its three companions");
    const std::string missing = no_folder(data_.dir);
    if (data_.dir.empty() || missing.empty()) return;
    const std::string package = data_.dir.find("fashion-mnist") == std::string::npos
                                    ? ""
                                    : "; Debian's package is dataset-fashion-mnist";
    if (data_.fallback.empty()) {
      return source_.error(*dir,
                           fmt::format("no such folder: {}", missing),
                           fmt::format("install the data{}, or add `fallback: digits`", package));
    }
    data_.kind = "digits";
    if (notices_ != nullptr) {
      notices_->push_back(
          fmt::format("{} is not there: the built-in digits are used instead (accuracies differ{})",
                      data_.dir,
                      package));
    }
  }

  void read_cifar10(MapReader& map) {
    const Value* dir = map.take("dir");
    constexpr const char* help =
        "the folder of data_batch_1.bin to data_batch_5.bin and test_batch.bin, or of train.csv "
        "and test.csv; nothing is downloaded";
    data_.dir = read_path(dir, "dir", help);
    if (data_.dir.empty()) return;
    if (const std::string missing = no_folder(data_.dir); !missing.empty())
      source_.error(*dir, fmt::format("no such folder: {}", missing), help);
  }

  void read_text(MapReader& map) {
    const Value* file = map.take("file");
    constexpr const char* help = "a text, whose last tenth will be the test set";
    set(map.take("context"), data_.context, count(1, 1'000'000));
    data_.file = read_path(file, "file", help);
    if (data_.file.empty()) return;
    if (const std::string missing = no_file(data_.file); !missing.empty())
      source_.error(*file, fmt::format("no such file: {}", missing), help);
  }

  void read_sparse(MapReader& map) {
    data_.features = 1000;
    const Value* nonzeros = map.take("nonzeros");
    set(map.take("features"), data_.features, count(1, 100'000'000));
    set(nonzeros, data_.nonzeros, count(1, 1'000'000));
    set(map.take("noise"), data_.noise, number(0, 0.5));
    if (data_.nonzeros > data_.features)
      source_.error(
          nonzeros != nullptr ? *nonzeros : at_,
          fmt::format(
              "{} of {} features cannot be other than zero", data_.nonzeros, data_.features),
          "take fewer `nonzeros` or more `features`");
  }

  void read_teacher(MapReader& map) {
    data_.features = 64;
    data_.classes = 10;
    data_.noise = 0.3;
    set(map.take("features"), data_.features, count(1, 100'000));
    set(map.take("classes"), data_.classes, count(2, 256));
    set(map.take("noise"), data_.noise, number(0, 1e6));
  }

  void read_libsvm(MapReader& map) {
    const Value* file = map.take("file");
    const Value* test = map.take("test_file");
    constexpr const char* help =
        "samples in LIBSVM's format, `label column:value ...`; the last tenth is the test set, "
        "unless `test_file` names one";
    data_.file = read_path(file, "file", help);
    if (test != nullptr) data_.test_file = read_path(test, "test_file", help);
    for (const Value* value : {file, test}) {
      const std::string& path = value == file ? data_.file : data_.test_file;
      if (value == nullptr || path.empty()) continue;
      if (const std::string missing = no_file(path); !missing.empty())
        source_.error(*value, fmt::format("no such file: {}", missing), help);
    }
  }

  void read_images(MapReader& map) {
    const Value* dir = map.take("dir");
    const Value* test = map.take("test");
    const Value* held_out = map.take("held_out");
    constexpr const char* help =
        "a folder with one folder for each class, of PNG or PGM files of one size";
    data_.dir = read_path(dir, "dir", help);
    if (test != nullptr) data_.test_dir = read_path(test, "test", help);
    read_held_out(source_, test, held_out, data_.held_out);
    if (data_.dir.empty()) return;
    for (const Value* value : {dir, test}) {
      const std::string& path = value == dir ? data_.dir : data_.test_dir;
      if (value == nullptr) continue;
      if (const std::string missing = no_folder(path); !missing.empty())
        return source_.error(*value, fmt::format("no such folder: {}", missing), help);
    }
    try {
      const ImageFolder found = find_images(data_.dir, data_.test_dir);
      data_.content = content_of(found.paths()) + " " + found.summary();
    } catch (const std::exception& e) {
      source_.error(*dir, e.what());
    }
  }

  void read_augment(MapReader& map) {
    std::string augment = "none";
    set(map.take("augment"), augment, choice({"none", "crop+flip", "crop", "flip"}));
    data_.augment = {.crop = augment.starts_with("crop"), .flip = augment.ends_with("flip")};
  }

  void read_quadratic(MapReader& map) {
    QuadraticSpec& q = data_.quadratic;
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
    PartitionSpec& p = data_.partition;
    const Value* kind = map.take("kind");
    set(kind,
        p.kind,
        choice({"iid", "dirichlet", "dirichlet-equal", "by-label", "by-class", "quantity"}));
    const bool by_class = p.kind == "by-label" || p.kind == "by-class";
    if (data_.kind == "text" && (by_class || p.kind.starts_with("dirichlet")))
      source_.error(*kind, "a text has no labels to divide it by", "use `iid` or `quantity`");
    if (p.kind.starts_with("dirichlet")) set(map.take("alpha"), p.alpha, number(1e-6, 1e9));
    if (p.kind == "dirichlet") set(map.take("min_samples"), p.min_samples, count(1, 1'000'000));
    if (by_class) set(map.take("classes_per_peer"), p.classes_per_peer, count(1, 1000));
    if (p.kind == "quantity") {
      const Value* sizes = map.take("sizes");
      if (sizes != nullptr) p.sizes = read_numbers(*sizes, 1e-9, 1e12);
      if (sizes == nullptr)
        source_.error(*value, "partition `quantity` needs `sizes`, one number per peer");
      else if (p.sizes.size() != peers_)
        source_.error(*sizes, fmt::format("{} sizes for {} peers", p.sizes.size(), peers_));
    }
    map.finish();
  }

  const Value& at_;
  const std::filesystem::path& folder_;
  PeerId peers_;
  std::vector<std::string>* notices_;
  DataSpec data_;
};

}  // namespace

DataForm form_of(const DataSpec& data) {
  if (data.kind == "table" && data.table.regression) return DataForm::targets;
  if (data.kind == "program") return DataForm::oracle;
  const EnvironmentRow* const row = find_environment(data.environment);
  if (row != nullptr && row->is_picture()) return DataForm::pictures;
  return std::ranges::find(data_kinds, data.kind, &DataKind::kind)->form;
}

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

}  // namespace gv
