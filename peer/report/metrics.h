#pragma once

#include <string>
#include <vector>

#include "peer/runtime/observer.h"

namespace gv {

/// {"event":"evaluate","round":..,"seconds":..,...}: one line of metrics.jsonl and of `--json`. No
/// newline.
std::string evaluate_line(const FleetRecord& record);

/// {"event":"summary","rounds":..,"peers":..,"lost":..,"loss":..,"loss_local":..,"accuracy":..,
/// "accuracy_min":..,"accuracy_max":..,"consensus":..,"seconds":..,"sent_bytes":..,
/// "params_hash":"..","model_hash":".."}
std::string summary_line(const FleetRecord& record,
                         PeerId lost,
                         double seconds,
                         const FinalHashes& hashes);

/// x as safetensors under the parameters' names (float32). Written to a temporary file, then
/// renamed. Throws std::runtime_error with the path. https://github.com/huggingface/safetensors:
/// u64 header length, JSON, data.
void write_safetensors(const std::string& path,
                       const std::vector<Parameter>& parameters,
                       std::span<const float> x,
                       const std::map<std::string, std::string>& metadata);

}  // namespace gv
