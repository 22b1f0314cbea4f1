#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optim/data/dataset.h"

namespace gv {

/// CIFAR-10 (A. Krizhevsky, "Learning multiple layers of features from tiny images", 2009): 32 x 32
/// pictures of three channels in ten classes. Of `dir` either
///  - the binary version: data_batch_1.bin to data_batch_5.bin and test_batch.bin, each of
///    `per_file` records; or
///  - the pictures as text: train.csv and test.csv, of as many rows as they have.
/// Each channel is normalized by its mean and deviation over the 50 000 training pictures. Throws
/// std::runtime_error "path: what is wrong, and what to do", with the byte offset or the line.
TrainTest read_cifar10(const std::string& dir, std::uint32_t per_file = 10'000);

/// The files that it reads, whether they are there or not.
std::vector<std::string> cifar10_files(const std::string& dir);

}  // namespace gv
