#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "optim/check.h"
#include "optim/data/libsvm.h"
#include "optim/rng.h"

namespace gv {

/// The bytes of a data set: either its own, which are filled once, or those of a mapped file, which
/// all processes of a machine share and none writes.
class ByteTable {
 public:
  using value_type = std::uint8_t;

  ByteTable() = default;
  ByteTable(std::vector<std::uint8_t> own) : own_(std::move(own)) {}
  /// The bytes are valid as long as `keep` lives.
  ByteTable(std::span<const std::uint8_t> mapped, std::shared_ptr<const void> keep)
      : mapped_(mapped), keep_(std::move(keep)) {}

  const std::uint8_t* data() const { return keep_ ? mapped_.data() : own_.data(); }
  std::size_t size() const { return keep_ ? mapped_.size() : own_.size(); }
  bool empty() const { return size() == 0; }
  const std::uint8_t* begin() const { return data(); }
  const std::uint8_t* end() const { return data() + size(); }
  std::uint8_t operator[](std::size_t k) const { return data()[k]; }
  bool operator==(const ByteTable& other) const { return std::ranges::equal(*this, other); }

  /// Returns the bytes, to be filled.
  std::vector<std::uint8_t>& own() {
    GV_CHECK(!keep_, "mapped bytes are not written");
    return own_;
  }

 private:
  std::vector<std::uint8_t> own_;
  std::span<const std::uint8_t> mapped_;
  std::shared_ptr<const void> keep_;
};

struct DataFacts;

/// The shape of a picture, with features in the order [channel][row][column], as in PyTorch.
struct ImageShape {
  std::uint32_t channels = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;

  bool operator==(const ImageShape&) const = default;
};

/// The view of one picture in a minibatch: pixel [y][x] is pixel [y + down][x + right] of the
/// picture, zero beyond its edges; then mirrored left to right. See draw_view.
struct View {
  std::int8_t down = 0;
  std::int8_t right = 0;
  bool mirrored = false;

  bool operator==(const View&) const = default;
};

/// The set that samples are drawn from; immutable and shared once it is made. Its four forms:
///  - a table of floats, or of bytes (pictures, a quarter of the memory) that become floats when
/// gathered: a row is a sample;
///  - sparse rows, with only the values that are not zero;
///  - a text: a row is the start of a window. The sample is `context` tokens, and the model
/// predicts the token after each.
struct Dataset {
  std::uint32_t rows = 0;
  std::uint32_t features = 0;  ///< for a text: context
  std::uint32_t classes = 0;   ///< 0 for a regression; for a text: vocabulary.size()
  ImageShape image;            ///< all 0 unless features are channels x height x width pixels

  ByteTable bytes;            ///< rows x features, or empty
  std::vector<float> floats;  ///< rows x features, or empty
  /// A float is (byte / 255 - shift) * scale. One value each for all features, or one per channel.
  std::vector<float> shift{0};
  std::vector<float> scale{1};
  std::vector<std::uint8_t> labels;  ///< rows, if classes > 0 and it is not a text
  std::vector<float> targets;        ///< rows, for a regression
  std::vector<float> optimum;        ///< x*, if known (linear)

  SparseSamples sparse;  ///< rows of `features`, with two classes; or empty

  std::vector<std::uint8_t> tokens;      ///< rows + context indices into the vocabulary, or empty
  std::vector<std::uint8_t> vocabulary;  ///< the characters (bytes), ascending
  std::uint32_t context = 0;             ///< tokens in a window; 0 if not a text

  std::shared_ptr<const DataFacts> facts;  ///< facts of a user's table or pictures; or null

  bool is_text() const { return context > 0; }
  bool is_sparse() const { return !sparse.ends.empty(); }

  /// out[r * features + c] <- feature c of sample rows[r]. For a table.
  void gather(std::span<const std::uint32_t> rows, std::span<float> out) const;
  /// Gathers each picture through its view; unchanged without views. Pixels beyond the edges are
  /// zero after normalization.
  void gather(std::span<const std::uint32_t> rows,
              std::span<const View> views,
              std::span<float> out) const;
  /// Reads a text: inputs[r * context + t] <- tokens[rows[r] + t], and targets[...] <- the next.
  void gather_windows(std::span<const std::uint32_t> rows,
                      std::span<std::uint8_t> inputs,
                      std::span<std::uint8_t> targets) const;
  /// Lists the rows of an evaluation: every row; for a text every context-th, so that each token is
  /// predicted once.
  std::vector<std::uint32_t> evaluation_rows() const;
};

struct TrainTest {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;
};

/// Sets shift and scale of both to the mean and deviation of the training pixels.
void standardize(Dataset& train, Dataset& test);

/// Reads IDX images and labels (MNIST family), plain or gzipped: train-images-idx3-ubyte[.gz],
/// train-labels-idx1-ubyte[.gz], t10k-... in `dir`. Checks magic, dimensions and length before any
/// allocation; throws std::runtime_error "path: the error, with the numbers". Pixels are
/// standardized by the training mean and deviation. Y. LeCun, "The MNIST database", file formats.
TrainTest read_idx(const std::string& dir);
/// The files that read_idx reads; throws if one is missing.
std::vector<std::string> idx_files(const std::string& dir);

/// Procedurally drawn 28 x 28 digits: stroke skeletons, random affine map, thickness and noise.
/// Needs no file. Same seed, same pictures. 10 classes, balanced up to one.
TrainTest draw_digits(std::uint32_t train, std::uint32_t test, Rng rng);

/// Gaussian blobs: `classes` centres in `features` dimensions at distance about `separation`
/// standard deviations.
TrainTest make_blobs(std::uint32_t train,
                     std::uint32_t test,
                     std::uint32_t features,
                     std::uint32_t classes,
                     double separation,
                     Rng rng);

/// Least squares: a ~ N(0, I), y = a . x* + noise * N(0, 1), x* ~ N(0, I) recorded in `optimum`.
TrainTest make_linear(
    std::uint32_t train, std::uint32_t test, std::uint32_t features, double noise, Rng rng);

/// The random changes of a picture each time it is drawn into a minibatch.
struct AugmentSpec {
  bool crop = false;  ///< shifted at random, with a border of `crop_padding` zeros
  bool flip = false;  ///< mirrored left to right with probability 1/2

  bool any() const { return crop || flip; }
};

/// "4 pixels are padded on each side, and a 32x32 crop is randomly sampled from the padded image or
/// its horizontal flip": He et al. 2016, arXiv:1512.03385, section 4.2.
inline constexpr std::int32_t crop_padding = 4;

/// The next view: down and right uniform in [-crop_padding, crop_padding], mirrored with
/// probability 1/2. Draws the same numbers for every spec.
View draw_view(const AugmentSpec& spec, Rng& rng);

/// out <- `picture` through the view; both are [channel][row][column], without overlap.
void look(const View& view,
          const ImageShape& shape,
          std::span<const float> picture,
          std::span<float> out);

}  // namespace gv
