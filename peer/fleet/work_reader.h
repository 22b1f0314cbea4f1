#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "peer/fleet/file/readers.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Reads how much each peer does in a round: `train.batch` and `train.local_steps`. Each is a
/// number, or `auto`: in proportion to the peers' speeds, which are known later. Problems become
/// diagnostics of `source`.
class WorkReader : Readers {
 public:
  explicit WorkReader(Source& source) : Readers(source) {}

  /// Reads into `usual`, whose batch is 0 where the peers' own ones are shared out by share().
  /// Null: as it is.
  void read_batch(const Value* value, PeerSpec& usual);
  /// Reads into `fleet.local_steps`. Null: as it is.
  void read_local_steps(const Value* value, Fleet& fleet);
  /// Settles what is `auto`, now that the peers are there. What it found odd without being wrong
  /// goes to `notices`, unless that is null.
  void share(Fleet& fleet, std::vector<std::string>* notices);

 private:
  /// `auto`, or `{ kind: auto, mean: N }`.
  void read_auto(const Value* value, const std::string& path, std::uint32_t& mean);
  /// False, and said: so many on average give the fastest more than anybody can mean.
  bool bearable(const Value& at,
                std::span<const double> speeds,
                std::uint32_t mean,
                std::string_view what);
  void share_batches(Fleet& fleet, std::vector<std::string>* notices);
  void share_local_steps(Fleet& fleet, std::vector<std::string>* notices);

  const Value* auto_batch_ = nullptr;  ///< `train.batch: auto`, where it stands
  std::uint32_t mean_batch_ = 0;
  const Value* auto_steps_ = nullptr;  ///< `train.local_steps: auto`, where it stands
  std::uint32_t mean_steps_ = 0;       ///< 0: least_mean_steps
};

}  // namespace gv
