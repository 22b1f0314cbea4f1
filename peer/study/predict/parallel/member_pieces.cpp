#include "peer/study/predict/parallel/member_pieces.h"

#include <algorithm>

#include "optim/models/network_cut.h"
#include "peer/fleet/model_profile.h"

namespace gv {

std::vector<MemberPiece> member_pieces(const NeuralNetwork& network, PeerId members) {
  const std::vector<Cut> cuts = places(network);
  std::vector<MemberPiece> pieces;
  for (std::uint32_t k = 0; k <= cuts.size(); ++k) {
    const Part whole = part(network, cuts, k);
    if (is_divisible(whole) && rows_of(whole) % members != 0) return {};
    const MemberPart own = part_of_member(whole, 0, members);
    pieces.push_back({.parameters = own.part.range.count,
                      .floats_in = whole.floats_in,
                      .slot_bytes = slot_bytes_of(own.part.network),
                      .told = own.divided ? own.part.floats_out + whole.floats_in : 0,
                      .divided = own.divided});
  }
  if (std::ranges::none_of(pieces, &MemberPiece::divided)) return {};
  return pieces;
}

}  // namespace gv
