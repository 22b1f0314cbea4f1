#include "gpu/replica/trainer.h"

#include "gpu/device_plugin.h"
#include "tests/gpu/cases.h"

// A data set too large for the device trains as one that fits, to the bit.

namespace gv::gpu {
namespace {

struct Training {
  Training(const ModelSpec& model, const Share& share, bool resident)
      : network(network_of(model, *share.train)),
        context(Precision::fp32),
        trainer(network, share, 16, context, [=](std::size_t free) { return resident ? free : 0; }),
        x(network.size(), "x"),
        g(network.size(), "g") {
    std::vector<float> start(network.size());
    network.initialize(start, Rng(3));
    copy_async(x.data(), start.data(), start.size(), cudaMemcpyHostToDevice, context.stream);
    context.stream.wait();
  }
  std::vector<float> gradient() {
    std::vector<float> values(network.size());
    losses.push_back(trainer.gradient(x.data(), g.data()));
    copy_async(values.data(), g.data(), values.size(), cudaMemcpyDeviceToHost, context.stream);
    context.stream.wait();
    return values;
  }
  std::vector<std::byte> saved() const {
    StateWriter out;
    trainer.save(out);
    return out.take();
  }

  NeuralNetwork network;
  DeviceContext context;
  Trainer trainer;
  DeviceArray<float> x, g;
  std::vector<double> losses;
};

Share augmented(const std::string& kind) {
  Share share = share_for(kind);
  share.augment = {.crop = true, .flip = true};
  return share;
}

/// With evaluations in between, which use the training set for batch norm, and with a restored
/// checkpoint.
TEST(StreamedTraining, GivesTheBitsOfTheResident) {
  GV_NEEDS_CUDA(cuda.missing());
  ModelSpec normed;
  normed.kind = "resnet20";
  ModelSpec mlp;
  mlp.values["hidden"] = Widths{30};
  for (const ModelSpec& model : {mlp, normed}) {
    Training resident(model, augmented(model.kind), true);
    Training streamed(model, augmented(model.kind), false);
    std::vector<std::byte> state;
    for (int step = 0; step < 8; ++step) {
      ASSERT_EQ(streamed.gradient(), resident.gradient()) << model.kind << ", step " << step;
      ASSERT_EQ(streamed.saved(), resident.saved());
      if (step == 2) state = resident.saved();
      if (step != 4) continue;
      const Evaluation a = streamed.trainer.evaluate(streamed.x.data());
      const Evaluation b = resident.trainer.evaluate(resident.x.data());
      EXPECT_EQ(a.loss, b.loss);
      EXPECT_EQ(a.accuracy, b.accuracy);
    }
    EXPECT_EQ(streamed.losses, resident.losses);
    StateReader in(state);
    streamed.trainer.restore(in);
    streamed.gradient();
    EXPECT_EQ(streamed.losses.back(), resident.losses[3]) << "the batch after the checkpoint's";
  }
}

/// An evaluation uses the places of the minibatches to measure the moments of batch norm.
TEST(EvaluatedTraining, GivesTheBitsOfWhatIsNeverEvaluated) {
  GV_NEEDS_CUDA(cuda.missing());
  ModelSpec normed;
  normed.kind = "resnet20";
  for (const bool resident : {true, false}) {
    Training evaluated(normed, augmented(normed.kind), resident);
    Training alone(normed, augmented(normed.kind), resident);
    for (int step = 0; step < 4; ++step) {
      ASSERT_EQ(evaluated.gradient(), alone.gradient()) << "step " << step;
      if (step % 2 != 0) continue;
      const double loss = evaluated.trainer.evaluate(evaluated.x.data()).loss;
      EXPECT_EQ(evaluated.trainer.evaluate(evaluated.x.data()).loss, loss) << "its own moments";
    }
    EXPECT_EQ(evaluated.losses, alone.losses);
  }
}

}  // namespace
}  // namespace gv::gpu
