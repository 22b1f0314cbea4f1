#include "peer/fleet/robust_reader.h"

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "peer/fleet/file/readers.h"
#include "peer/fleet/setup.h"

namespace gv {
namespace {

/// The bounds of a distance between two models.

class RobustReader : Readers {
 public:
  RobustReader(Source& source, Fleet& fleet) : Readers(source), fleet_(fleet) {}

  void read(const Value* value) {
    MapReader map(source_, value, "robust");
    const Value* clip = map.take("clip");
    map.finish();
    if (clip == nullptr) return;
    fleet_.clip = read_clip(*clip);
    const AlgorithmRow* row = find_algorithm(fleet_.algorithm, fleet_.order);
    if (!fleet_.clip || row == nullptr) return;
    const std::string why = objection_to_clipping(*row, setup_of(fleet_));
    if (!why.empty()) source_.error(*clip, why);
  }

 private:
  std::optional<double> read_clip(const Value& value) {
    if (value.kind == Value::Kind::scalar && value.text == "none") return {};
    if (value.kind == Value::Kind::scalar && value.text == "auto") return 0.0;
    char* end = nullptr;
    if (value.kind == Value::Kind::scalar) std::strtod(value.text.c_str(), &end);
    if (end != nullptr && end != value.text.c_str() && *end == 0)
      return number("robust.clip")(value);
    const KeyRange& range = key_range("robust.clip");
    source_.error(
        value,
        fmt::format(
            "`clip` is `auto`, `none`, or a length from {:g} to {:g}", range.least, range.most));
    return {};
  }

  Fleet& fleet_;
};

}  // namespace

void read_robust(Source& source, const Value* value, Fleet& fleet) {
  RobustReader(source, fleet).read(value);
}

}  // namespace gv
