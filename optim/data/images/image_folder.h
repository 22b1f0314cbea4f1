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

/// The pictures of a folder with a folder for each class, in the order of class and name.
struct ImageFolder {
  std::vector<std::string> classes;  ///< the folders' names in sorted order
  std::vector<std::string> empty;    ///< folders without pictures, which are not classes
  std::vector<ImageFile> train, test;

  std::vector<std::string> paths() const;  ///< paths of all pictures
  /// The classes with the numbers of their pictures; identifies the data set together with the
  /// content of paths().
  std::string summary() const;
};

/// Finds the pictures. `test` is a folder of the same classes, or "". Ignores files whose names
/// begin with a dot; a folder with no other files, such as `__MACOSX`, is not a class. Throws
/// std::runtime_error "path: the error, and a remedy".
ImageFolder find_images(const std::string& dir, const std::string& test);

/// Draws a random part of the training pictures as the test set, unless there is one.
ImageFolder with_test_set(ImageFolder folder, double held_out, Rng rng);

/// Reads all pictures, which must have one size and either be all gray or all coloured. Each
/// channel is scaled by its mean and deviation over the training pictures. Throws like find_images.
TrainTest read_images(const ImageFolder& folder);

}  // namespace gv
