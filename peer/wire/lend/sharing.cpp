#include "peer/wire/lend/sharing.h"

#include <algorithm>

namespace gv {

Sharing::Sharing(Options options) : options_(std::move(options)) {
  const auto& [lender, borrower] = options_.parts;
  lender_ = lender ? lender(options_.region, options_.smallest)
                   : std::make_shared<Lender>(
                         options_.region, options_.smallest, options_.reserve, options_.beside);
}

std::uint32_t Sharing::row_of(PeerId neighbor) const {
  const auto at = std::ranges::lower_bound(options_.neighbors, neighbor);
  return static_cast<std::uint32_t>(at - options_.neighbors.begin());
}

bool Sharing::met(PeerId neighbor, std::uint64_t incarnation) {
  if (edges_[neighbor].incarnation != incarnation) shut(neighbor);
  Edge& edge = edges_[neighbor];
  edge.incarnation = incarnation;
  return edge.borrower == nullptr;
}

bool Sharing::fits(PeerId neighbor,
                   std::uint64_t incarnation,
                   const RegionShape& shape,
                   std::uint32_t row) const {
  const auto at = edges_.find(neighbor);
  return at != edges_.end() && at->second.incarnation == incarnation && !at->second.borrower &&
         shape.sane() && shape.blocks == options_.region.shape.blocks && row < shape.rows;
}

void Sharing::take(PeerId neighbor, Region theirs, std::uint32_t row) {
  Edge& edge = edges_.at(neighbor);
  const std::uint32_t its_row = row_of(neighbor);
  const auto& make = options_.parts.borrower;
  edge.borrower = make ? make(theirs, options_.region, its_row)
                       : std::make_shared<Borrower>(theirs, options_.region, its_row);
  edge.theirs = std::move(theirs);
  edge.row = row;
}

bool Sharing::has_taken(PeerId neighbor, std::uint64_t incarnation) const {
  const auto at = edges_.find(neighbor);
  return at != edges_.end() && at->second.incarnation == incarnation && at->second.borrower;
}

void Sharing::open(PeerId neighbor) {
  Edge& edge = edges_.at(neighbor);
  lender_->open(row_of(neighbor), edge.theirs, edge.row);
  edge.open = true;
  if (options_.on_change) options_.on_change(neighbor, true);
}

void Sharing::shut(PeerId neighbor) {
  Edge& edge = edges_.at(neighbor);
  lender_->close(row_of(neighbor));
  if (edge.borrower) edge.borrower->retire();
  const bool was_open = edge.open;
  edge = {.incarnation = edge.incarnation, .borrower = {}, .theirs = {}};
  if (was_open && options_.on_change) options_.on_change(neighbor, false);
}

bool Sharing::is_open(PeerId neighbor) const {
  const auto at = edges_.find(neighbor);
  return at != edges_.end() && at->second.open;
}

std::optional<Loan> Sharing::lend(PeerId to, const Buffer& payload) {
  if (!is_open(to)) return {};
  return lender_->lend(payload, row_of(to));
}

Verdict Sharing::borrow(PeerId from,
                        std::uint64_t incarnation,
                        const Loan& loan,
                        std::uint64_t most_bytes,
                        Payload& out) const {
  if (!has_taken(from, incarnation)) return "a loan of memory that it has not given us";
  return edges_.at(from).borrower->borrow(loan, most_bytes, out);
}

}  // namespace gv
