#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "optim/state.h"

namespace gv {

class Replica;
struct Vector;

/// The state that a method keeps beside x and g: which of a replica's vectors a name means, and
/// scalars. The replicas of all devices hold one, so that their training states are alike.
class NamedState {
 public:
  /// The vector of this name; a new name takes the next index.
  Vector vector(std::string_view name, std::optional<std::uint32_t> neighbor);
  /// The number of this name, 0 when it is new. The reference holds as long as this object.
  double& scalar(std::string_view name, std::optional<std::uint32_t> neighbor);

  /// Writes nothing where nothing has a name. So a state from before the first name is still read,
  /// and the names must stand last in it.
  void save(StateWriter& out, const Replica& replica) const;
  /// Names that are not in the state become zero again; names that nobody has asked for yet are
  /// made. Throws std::runtime_error as StateReader does.
  void restore(StateReader& in, Replica& replica);

 private:
  /// The name, with the neighbour's id where there is one of it for each neighbour.
  using Name = std::pair<std::string, std::optional<std::uint32_t>>;

  static void save_name(StateWriter& out, const Name& name);
  static Name restore_name(StateReader& in);

  std::map<Name, std::uint32_t> vectors_;  ///< their indices
  std::map<Name, double> scalars_;
};

}  // namespace gv
