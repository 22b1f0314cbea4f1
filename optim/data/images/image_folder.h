#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/rng.h"

namespace gv {

struct ImageFile {
  std::string path;
  std::uint8_t label = 0;
};

/// A folder with a folder for each class: which pictures are there, in the order of class and name.
struct ImageFolder {
  std::vector<std::string> classes;  ///< the folders' names in sorted order
  std::vector<std::string> empty;    ///< folders without pictures, which are no classes
  std::vector<ImageFile> train, test;

  std::vector<std::string> paths() const;  ///< of all
  /// The classes with the numbers of their pictures: with the content of paths(), all there is.
  std::string summary() const;
};

/// `test`: a folder of the same classes, or "". Files whose names begin with a dot are none of
/// ours, and a folder that holds no others is no class, such as `__MACOSX`. Throws
/// std::runtime_error "path: what is wrong, and what to do".
ImageFolder find_images(const std::string& dir, const std::string& test);

/// Draws the part of the training pictures, at random, that is the test set. Nothing is drawn where
/// there is one.
ImageFolder with_test_set(ImageFolder folder, double held_out, Rng rng);

/// All pictures, which must be of one size and either gray or coloured. Each channel is scaled by
/// its mean and deviation over the training pictures. Throws like find_images.
TrainTest read_images(const ImageFolder& folder);

}  // namespace gv
