#include "gossip/verbs/verb.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "optim/check.h"

namespace gv {
namespace {

constexpr PeerId nobody = std::numeric_limits<PeerId>::max();

/// Returns the next peer on each peer's way to peer 0; for peer 0 itself.
std::vector<PeerId> ways_to_0(const std::vector<std::vector<PeerId>>& links) {
  std::vector<PeerId> next(links.size(), nobody);
  if (links.empty()) return next;
  next[0] = 0;
  std::vector<PeerId> nearest{0};
  while (!nearest.empty()) {
    std::vector<PeerId> further;
    for (const PeerId i : nearest)
      for (const PeerId j : links[i])
        if (j < next.size() && next[j] == nobody) {
          next[j] = i;
          further.push_back(j);
        }
    std::ranges::sort(further);
    nearest = std::move(further);
  }
  return next;
}

template <class Number>
void put(std::span<std::byte> out, std::size_t at, Number number) {
  for (std::size_t k = 0; k < sizeof(Number); ++k)
    out[at + k] = static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * k));
}

template <class Number>
Number get(std::span<const std::byte> in, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t k = 0; k < sizeof(Number); ++k)
    number |= std::to_integer<std::uint64_t>(in[at + k]) << (8 * k);
  return static_cast<Number>(number);
}

/// f(index, value) of each element.
template <class Element, class F>
void each(std::span<const std::byte> in, F f) {
  for (std::size_t k = 0; k < in.size() / sizeof(Element); ++k) {
    Element value;
    std::memcpy(&value, in.data() + k * sizeof(Element), sizeof(Element));
    f(k, value);
  }
}

template <class Element, class F>
void fill(std::span<std::byte> out, F value_at) {
  for (std::size_t k = 0; k < out.size() / sizeof(Element); ++k) {
    const auto value = static_cast<Element>(value_at(k));
    std::memcpy(out.data() + k * sizeof(Element), &value, sizeof(Element));
  }
}

}  // namespace

std::size_t bytes_of(VerbType type) {
  switch (type) {
    case VerbType::bytes:
      return 1;
    case VerbType::float32:
      return sizeof(float);
    case VerbType::float64:
    case VerbType::int64:
      return sizeof(double);
  }
  return 1;
}

std::string objection_to(const VerbCall& call, PeerId trainers) {
  const bool floats = call.type == VerbType::float32 || call.type == VerbType::float64;
  if (call.data.size() % bytes_of(call.type) != 0)
    return fmt::format("{} bytes are no whole number of elements of {}", call.data.size(),
                       bytes_of(call.type));
  if (call.op == VerbOp::broadcast && call.root >= trainers)
    return fmt::format("the root is peer {}, and those that train are 0 to {}", call.root,
                       trainers - 1);
  if (call.op == VerbOp::sum && call.type == VerbType::bytes)
    return "bytes without a type have no sum";
  if ((call.op == VerbOp::mean || call.op == VerbOp::neighbor_average) && !floats)
    return "only floating point numbers have a mean here; whole numbers have a sum";
  return "";
}

std::vector<VerbTree> spanning_tree(const std::vector<std::vector<PeerId>>& links,
                                    PeerId trainers) {
  const std::vector<PeerId> next = ways_to_0(links);
  std::vector<bool> needed(links.size(), false);
  for (PeerId i = 0; i < trainers; ++i) {
    if (i >= links.size() || next[i] == nobody) return {};
    for (PeerId j = i; !needed[j]; j = next[j]) needed[j] = true;
  }
  std::vector<VerbTree> trees(links.size());
  for (PeerId i = 1; i < links.size(); ++i) {
    if (!needed[i]) continue;
    trees[i].parent = next[i];
    trees[next[i]].children.push_back(i);
  }
  return trees;
}

std::uint32_t VerbWord::pieces() const {
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>(1, (bytes + verb_piece_bytes - 1) / verb_piece_bytes));
}

std::size_t VerbWord::begin(std::uint32_t part) const {
  return std::size_t{part} * verb_piece_bytes;
}

std::size_t VerbWord::length(std::uint32_t part) const {
  return std::min<std::size_t>(verb_piece_bytes, bytes - begin(part));
}

bool same_call(const VerbWord& a, const VerbWord& b) {
  const bool same_mark = a.mark == b.mark || a.mark == 0 || b.mark == 0;
  return a.op == b.op && a.type == b.type && a.peer == b.peer && a.bytes == b.bytes && same_mark;
}

void write(const VerbWord& word, std::span<std::byte> out) {
  GV_CHECK(out.size() >= verb_word_bytes, "there is room for the word");
  put(out, 0, static_cast<std::uint8_t>(word.step));
  put(out, 1, static_cast<std::uint8_t>(word.op));
  put(out, 2, static_cast<std::uint8_t>(word.type));
  put(out, 3, static_cast<std::uint8_t>(word.why));
  put(out, 4, static_cast<std::uint32_t>(word.peer));
  put(out, 8, word.bytes);
  put(out, 16, word.mark);
}

std::optional<VerbWord> parse_verb(std::span<const std::byte> in) {
  if (in.size() < verb_word_bytes || in.size() > verb_word_bytes + verb_piece_bytes) return {};
  const auto step = get<std::uint8_t>(in, 0), op = get<std::uint8_t>(in, 1),
             type = get<std::uint8_t>(in, 2), why = get<std::uint8_t>(in, 3);
  VerbWord word{.step = VerbStep{step},
                .op = VerbOp{op},
                .type = VerbType{type},
                .why = VerbEnd::Why{why},
                .peer = get<std::uint32_t>(in, 4),
                .bytes = get<std::uint64_t>(in, 8),
                .mark = get<std::uint64_t>(in, 16)};
  if (word.step > VerbStep::give || word.op > VerbOp::transfer || word.type > VerbType::int64 ||
      word.why > VerbEnd::Why::disagrees)
    return {};
  if (word.bytes > most_verb_bytes || word.bytes % bytes_of(word.type) != 0) return {};
  const bool broken = word.step == VerbStep::broken;
  if (broken != (word.why != VerbEnd::Why::done)) return {};
  const bool of_two = word.step == VerbStep::want || word.step == VerbStep::give;
  if (!broken && of_two != (word.op == VerbOp::transfer)) return {};
  if (broken && in.size() != verb_word_bytes) return {};
  return word;
}

VerbSum::VerbSum(VerbType type, std::size_t bytes) : type_(type) {
  const std::size_t n = bytes / bytes_of(type);
  type == VerbType::int64 ? whole_.resize(n) : floats_.resize(n);
}

void VerbSum::add(std::span<const std::byte> in, double weight) {
  if (type_ == VerbType::int64)
    each<std::uint64_t>(in, [this](std::size_t k, std::uint64_t v) { whole_[k] += v; });
  else if (type_ == VerbType::float64)
    each<double>(in, [=, this](std::size_t k, double v) { floats_[k] += weight * v; });
  else
    each<float>(
        in, [=, this](std::size_t k, float v) { floats_[k] += weight * static_cast<double>(v); });
}

void VerbSum::store(std::span<std::byte> out) const {
  if (type_ == VerbType::int64)
    fill<std::uint64_t>(out, [this](std::size_t k) { return whole_[k]; });
  else if (type_ == VerbType::float64)
    fill<double>(out, [this](std::size_t k) { return floats_[k]; });
  else
    fill<float>(out, [this](std::size_t k) { return floats_[k]; });
}

void divide(VerbType type, std::span<std::byte> out, double n) {
  if (type == VerbType::float64)
    each<double>(out, [&](std::size_t k, double v) {
      v /= n;
      std::memcpy(out.data() + k * sizeof(double), &v, sizeof(double));
    });
  else
    each<float>(out, [&](std::size_t k, float v) {
      v = static_cast<float>(static_cast<double>(v) / n);
      std::memcpy(out.data() + k * sizeof(float), &v, sizeof(float));
    });
}

}  // namespace gv
