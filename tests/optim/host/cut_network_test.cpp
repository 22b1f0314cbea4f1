#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <ostream>
#include <tuple>

#include "optim/host/host_network.h"
#include "optim/host/network_objective.h"
#include "optim/models/network_cut.h"
#include "tests/optim/models/networks.h"

// The parts of a network compute the bits of the whole: the loss and every element of the gradient.

namespace gv {
namespace {

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

struct Pass {
  double loss = 0;
  std::vector<float> g;
};

/// One minibatch of a network, as a whole and in parts; parts are made once.
class CutNetwork {
 public:
  CutNetwork(const NeuralNetwork& network, std::uint32_t rows)
      : network_(network),
        rows_(rows),
        data_(data_for(network, rows)),
        x_(somewhere(network)),
        places_(places(network)) {}

  /// Runs the network cut at these places, in one part more than there are places.
  Pass run(const std::vector<std::size_t>& chosen) {
    std::vector<MadePart*> parts;
    std::size_t begin = 0;
    for (std::size_t k = 0; k <= chosen.size(); ++k) {
      const std::size_t end = k == chosen.size() ? places_.size() : chosen[k];
      parts.push_back(&between(begin, end, k == 0, k == chosen.size()));
      begin = end;
    }
    const std::vector<std::uint8_t> labels = fill(parts.front()->host);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (k > 0) std::ranges::copy(parts[k - 1]->host.outputs(), parts[k]->host.inputs().begin());
      parts[k]->host.forward(x_of(*parts[k]), Moments::of_the_batch);
    }
    Pass pass;
    pass.loss = softmax_cross_entropy(parts.back()->host.logits(), labels, network_.classes);
    pass.g.assign(x_.size(), std::nanf(""));
    for (std::size_t k = parts.size(); k-- > 0;) {
      if (k + 1 < parts.size())
        std::ranges::copy(parts[k + 1]->host.input_gradients(),
                          parts[k]->host.output_gradients().begin());
      const Range r = parts[k]->part.range;
      parts[k]->host.backward(x_of(*parts[k]), std::span(pass.g).subspan(r.begin, r.count));
    }
    return pass;
  }

  /// Expects the parts to do what the whole does, on one thread and on two.
  void expect_equal(const std::vector<std::size_t>& chosen) {
    for (const int threads : {1, 2}) {
      set_compute_threads(threads);
      if (!whole_.contains(threads)) whole_[threads] = run({});
      const Pass cut = run(chosen);
      const Pass& whole = whole_[threads];
      ASSERT_TRUE(std::ranges::all_of(whole.g, [](float v) { return std::isfinite(v); }));
      ASSERT_EQ(cut.loss, whole.loss) << text_of(chosen) << threads << " threads";
      ASSERT_TRUE(same_bits(cut.g, whole.g)) << text_of(chosen) << threads << " threads";
    }
    ASSERT_TRUE(same_bits(whole_[1].g, whole_[2].g));
    set_compute_threads(1);
  }

  std::size_t places_count() const { return places_.size(); }

 private:
  struct MadePart {
    MadePart(Part one, std::uint32_t rows)
        : part(std::move(one)),
          host(part.network, rows, true, {.gradient_in = !part.first, .gradient_out = !part.last}) {
    }
    Part part;
    HostNetwork host;
  };

  MadePart& between(std::size_t begin, std::size_t end, bool first, bool last) {
    const auto key = std::tuple(begin, end, first, last);
    if (const auto made = made_.find(key); made != made_.end()) return *made->second;
    std::vector<Cut> cuts;
    if (!first) cuts.push_back(places_[begin]);
    if (!last) cuts.push_back(places_[end]);
    made_[key] = std::make_unique<MadePart>(part(network_, cuts, first ? 0 : 1), rows_);
    return *made_[key];
  }

  std::span<const float> x_of(const MadePart& cut) const {
    return std::span(x_).subspan(cut.part.range.begin, cut.part.range.count);
  }

  /// Fills in the first rows of the data; returns their labels.
  std::vector<std::uint8_t> fill(HostNetwork& host) const {
    std::vector<std::uint32_t> rows(rows_);
    std::iota(rows.begin(), rows.end(), 0U);
    const Dataset& data = *data_.train;
    if (network_.vocabulary == 0) {
      data.gather(rows, host.inputs());
      return {data.labels.begin(), data.labels.begin() + rows_};
    }
    std::vector<std::uint8_t> labels(rows_ * network_.positions());
    data.gather_windows(rows, host.tokens(), labels);
    return labels;
  }

  std::string text_of(const std::vector<std::size_t>& chosen) const {
    std::string text = std::to_string(rows_) + " rows, cut before ";
    for (const std::size_t k : chosen) text += places_[k].name + ", ";
    return text;
  }

  NeuralNetwork network_;
  std::uint32_t rows_;
  TrainTest data_;
  std::vector<float> x_;
  std::vector<Cut> places_;
  std::map<std::tuple<std::size_t, std::size_t, bool, bool>, std::unique_ptr<MadePart>> made_;
  std::map<int, Pass> whole_;  ///< by threads
};

/// Returns every set of one to three of n.
std::vector<std::vector<std::size_t>> sets_of(std::size_t n) {
  std::vector<std::vector<std::size_t>> sets;
  for (std::size_t a = 0; a < n; ++a) {
    sets.push_back({a});
    for (std::size_t b = a + 1; b < n; ++b) {
      sets.push_back({a, b});
      for (std::size_t c = b + 1; c < n; ++c) sets.push_back({a, b, c});
    }
  }
  return sets;
}

TEST(CutNetwork, SetsOfPlacesAreAllThereAre) {
  EXPECT_EQ(sets_of(4).size(), 4U + 6 + 4);
  EXPECT_EQ(sets_of(10).size(), 10U + 45 + 120);
}

TEST(CutNetwork, DrawnCutsComputeTheBitsOfTheWhole) {
  Rng rng(11);
  for (const auto& [name, network] : every_model()) {
    SCOPED_TRACE(name);
    const std::vector<std::vector<std::size_t>> sets = sets_of(places(network).size());
    for (const std::uint32_t rows : {1U, static_cast<std::uint32_t>(2 + rng.below(14)), 16U}) {
      CutNetwork cut(network, rows);
      for (int draw = 0; draw < 4; ++draw) cut.expect_equal(sets[rng.below(sets.size())]);
    }
  }
}

/// Each op on either side of a cut, and a value with three users, whose gradients show the order of
/// their sum.
TEST(CutNetwork, EveryOpComputesItsBitsBesideACut) {
  std::size_t cuts = 0;
  for (const auto& list : {every_picture_op(), every_text_op()}) {
    for (const auto& [name, network] : list) {
      SCOPED_TRACE(name);
      CutNetwork cut(network, 5);
      for (const auto& set : sets_of(cut.places_count())) {
        cut.expect_equal(set);
        ++cuts;
      }
    }
  }
  EXPECT_GE(cuts, 36U);
}

struct Sized {
  const char* name;
  NeuralNetwork (*network)();
};

void PrintTo(const Sized& sized, std::ostream* out) {
  *out << sized.name;
}

constexpr Shape sixteen{.channels = 3, .height = 16, .width = 16};

/// Networks large enough for several threads.
const Sized sized_models[] = {
    {"mlp",
     [] {
       return mlp_network({.channels = 784}, {512, 300, 256, 64}, 10);
     }},
    {"lenet5", [] { return lenet5_network({.channels = 1, .height = 28, .width = 28}, 10); }},
    {"resnet20_batch", [] { return resnet20_network(sixteen, 10, Norm::batch); }},
    {"resnet20_group", [] { return resnet20_network(sixteen, 10, Norm::group); }},
    {"transformer", [] {
       return transformer_network({.vocabulary = 30, .context = 32, .width = 64, .layers = 2});
     }}};

class EveryCut : public testing::TestWithParam<Sized> {};

/// Every set of up to three places, 1 to 16 rows, 1 and 2 threads.
TEST_P(EveryCut, ComputesTheBitsOfTheWhole) {
  const NeuralNetwork network = GetParam().network();
  for (std::uint32_t rows = 1; rows <= 16; ++rows) {
    CutNetwork cut(network, rows);
    for (const auto& set : sets_of(cut.places_count())) {
      cut.expect_equal(set);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryCut, testing::ValuesIn(sized_models), [](const auto& tested) {
  return std::string(tested.param.name);
});

}  // namespace
}  // namespace gv
