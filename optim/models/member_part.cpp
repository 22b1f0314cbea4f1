#include "optim/models/member_part.h"

#include <algorithm>

#include "optim/check.h"

namespace gv {

bool is_divisible(const Part& part) {
  const std::vector<Node>& nodes = part.network.nodes;
  if (part.last || nodes.size() < 2 || nodes[1].op != Op::linear || nodes[1].out.positions != 1)
    return false;
  return std::all_of(nodes.begin() + 2, nodes.end(), [](const Node& node) {
    return node.op == Op::relu || node.op == Op::gelu;
  });
}

std::uint32_t rows_of(const Part& part) {
  GV_CHECK(is_divisible(part), "a linear layer");
  return part.network.nodes[1].out.channels;
}

MemberPart part_of_member(const Part& whole, std::uint32_t member, std::uint32_t members) {
  GV_CHECK(member < members, "a member");
  MemberPart own{.part = whole, .ranges = {}, .divided = members > 1 && is_divisible(whole)};
  if (own.divided) GV_CHECK_EQUAL(rows_of(whole) % members, 0U, "as many rows for each member");
  const std::uint32_t parts = own.divided ? members : 1;
  std::size_t offset = 0;
  for (Tensor& tensor : own.part.network.tensors) {
    const std::size_t begin = whole.range.begin + tensor.offset;
    tensor.count /= parts;
    tensor.parameter.shape.front() /= parts;
    own.ranges.push_back({begin + (own.divided ? member * tensor.count : 0), tensor.count});
    tensor.offset = offset;
    offset += tensor.count;
  }
  for (std::size_t k = 1; own.divided && k < own.part.network.nodes.size(); ++k)
    own.part.network.nodes[k].out.channels /= parts;
  own.part.range.count = offset;
  if (!whole.last) own.part.floats_out = own.part.network.nodes.back().out.elements();
  return own;
}

}  // namespace gv
