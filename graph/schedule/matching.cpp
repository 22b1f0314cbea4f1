#include "graph/schedule/matching.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace gv {
namespace {

using Colour = std::size_t;

/// A partial edge colouring, proper at all times. Names as in Misra & Gries 1992: the fan of u, the
/// path of the colours c and d.
class Colouring {
 public:
  explicit Colouring(PeerId n) : at_(n) {}

  void colour(PeerId u, PeerId v) {
    const std::vector<PeerId> fan = maximal_fan(u, v);
    const Colour c = free_colour(u);
    const Colour d = free_colour(fan.back());
    invert_path(u, c, d);
    rotate(u, prefix_with_free(u, fan, d), d);
  }

  std::vector<Matching> matchings() const {
    std::vector<Matching> list;
    for (const auto& [edge, colour] : colour_of_) {
      if (colour >= list.size()) list.resize(colour + 1);
      list[colour].push_back(edge);
    }
    std::erase_if(list, [](const Matching& m) { return m.empty(); });
    return list;
  }

 private:
  static Edge key(PeerId u, PeerId v) { return {std::min(u, v), std::max(u, v)}; }
  bool is_free(PeerId v, Colour colour) const { return !at_[v].contains(colour); }

  Colour free_colour(PeerId v) const {
    Colour colour = 0;
    while (!is_free(v, colour)) ++colour;
    return colour;
  }

  void set(PeerId u, PeerId v, Colour colour) {
    colour_of_[key(u, v)] = colour;
    at_[u][colour] = v;
    at_[v][colour] = u;
  }

  void clear(PeerId u, PeerId v) {
    const auto it = colour_of_.find(key(u, v));
    at_[u].erase(it->second);
    at_[v].erase(it->second);
    colour_of_.erase(it);
  }

  /// v, then neighbours of u whose edge to u has a colour that is free on the one before.
  std::vector<PeerId> maximal_fan(PeerId u, PeerId v) const {
    std::vector<PeerId> fan{v};
    const auto extends = [&](const std::pair<const Colour, PeerId>& entry) {
      return is_free(fan.back(), entry.first) && std::ranges::find(fan, entry.second) == fan.end();
    };
    for (;;) {
      const auto next = std::ranges::find_if(at_[u], extends);
      if (next == at_[u].end()) return fan;
      fan.push_back(next->second);
    }
  }

  /// Swaps the colours c and d along the path that leaves u by d.
  void invert_path(PeerId u, Colour c, Colour d) {
    struct Step {
      PeerId from, to;
      Colour colour;
    };
    std::vector<Step> path;
    PeerId here = u;
    for (Colour colour = d; !is_free(here, colour); colour = colour == d ? c : d) {
      path.push_back({here, at_[here].at(colour), colour});
      here = path.back().to;
    }
    for (const Step& s : path) clear(s.from, s.to);
    for (const Step& s : path) set(s.from, s.to, s.colour == c ? d : c);
  }

  /// The shortest beginning of the fan that is still one and whose last peer has d free.
  std::vector<PeerId> prefix_with_free(PeerId u, const std::vector<PeerId>& fan, Colour d) const {
    std::size_t last = 0;
    while (!is_free(fan[last], d)) {
      if (last + 1 == fan.size() || !is_free(fan[last], colour_of_.at(key(u, fan[last + 1]))))
        throw std::logic_error("matching_decomposition: no fan to rotate");
      ++last;
    }
    return {fan.begin(), fan.begin() + static_cast<std::ptrdiff_t>(last) + 1};
  }

  /// Every edge of the fan takes the colour of the next, the last takes d.
  void rotate(PeerId u, const std::vector<PeerId>& fan, Colour d) {
    for (std::size_t k = 0; k + 1 < fan.size(); ++k) {
      const Colour next = colour_of_.at(key(u, fan[k + 1]));
      clear(u, fan[k + 1]);
      set(u, fan[k], next);
    }
    set(u, fan.back(), d);
  }

  std::vector<std::map<Colour, PeerId>> at_;  ///< at_[v][colour]: the neighbour by that edge
  std::map<Edge, Colour> colour_of_;
};

}  // namespace

std::vector<Matching> matching_decomposition(const Topology& t) {
  if (t.directed)
    throw std::invalid_argument("matchings: `" + t.name +
                                "` is directed; an undirected graph has "
                                "matchings");
  Colouring colouring(t.size());
  for (const auto& [u, v] : t.edges()) colouring.colour(u, v);
  return colouring.matchings();
}

}  // namespace gv
