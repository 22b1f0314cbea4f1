#include "peer/runtime/save_model.h"

#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "optim/data/set_apart.h"
#include "optim/train/predictor.h"
#include "peer/model/card/model_card.h"
#include "peer/model/tensors/tensor_file.h"

namespace gv {
namespace {

/// Returns the data without samples, for the card. An end offset marks sparse data.
std::shared_ptr<const Dataset> of_card(const Dataset& data) {
  auto like = without_samples(data);
  if (data.is_sparse()) like->sparse.ends = {0};
  return like;
}

ModelCard card_of(const Assembly& fleet, const SavedMoment& moment) {
  const Fleet& f = fleet.fleet;
  ModelCard card{.fleet = f.name,
                 .version = moment.version,
                 .digest = f.digest,
                 .seed = f.seed,
                 .rounds = moment.rounds,
                 .peer = moment.peer,
                 .model = f.model,
                 .data = f.data.kind};
  if (!fleet.data.train) return card;
  card.like = of_card(*fleet.data.train);
  card.missing = f.data.table.missing;
  card.train_samples = fleet.data.train->rows;
  card.test_samples = fleet.data.test->rows;
  card.train_digest = data_digest(fleet.data.train.get());
  card.test_digest = data_digest(fleet.data.test.get());
  return card;
}

/// Returns the share for evaluations of the mean model: the samples of all peers.
Share everybodys(const Assembly& fleet) {
  Share share{.train = fleet.data.train,
              .test = fleet.data.test,
              .rows = {},
              .rng = Rng(fleet.fleet.seed).derive("batches").derive(std::uint64_t{0})};
  if (!share.train) return share;
  share.rows.resize(share.train->rows);
  std::iota(share.rows.begin(), share.rows.end(), 0U);
  return share;
}

}  // namespace

void save_model(const std::string& path,
                const Assembly& fleet,
                std::span<const float> x,
                const SavedMoment& moment) {
  if (x.size() != fleet.dimension) throw std::logic_error(path + ": not a whole model");
  std::vector<float> turned;
  if (!fleet.orders.empty()) turned = in_order_of_shapes(x, fleet.parameters, fleet.orders);
  const std::span<const float> values = turned.empty() ? x : std::span<const float>(turned);
  std::vector<NamedTensor> tensors;
  std::size_t at = 0;
  for (const Parameter& p : fleet.parameters) {
    std::size_t count = 1;
    for (const std::uint32_t extent : p.shape) count *= extent;
    tensors.push_back({.name = p.name, .shape = p.shape, .values = values.subspan(at, count)});
    at += count;
  }
  std::vector<RunningMoment> moments;
  if (fleet.data.train) moments = running_moments(fleet.fleet.model, everybodys(fleet), x);
  for (const RunningMoment& m : moments)
    tensors.push_back({.name = m.name,
                       .shape = {static_cast<std::uint32_t>(m.values.size())},
                       .values = m.values});
  write_safetensors(path, tensors, card_metadata(card_of(fleet, moment)));
}

}  // namespace gv
