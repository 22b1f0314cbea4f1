#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/data/table/prepared_rows.h"
#include "peer/model/card/model_card.h"

namespace gv {

/// Reads labelled samples of the model's kind of data, prepared exactly as in training. `path` is,
/// for a table, a file with its columns and its target; for pictures, a folder with a folder for
/// each class, or a published set, whose test part is taken; for sparse rows, a LIBSVM file; for a
/// text, a text. Throws std::runtime_error "path: the error, and a remedy".
std::shared_ptr<const Dataset> labelled_data(const ModelCard& card, const std::string& path);

/// Reads sparse rows; checks their labels against the model's classes if `labels` is set.
std::shared_ptr<Dataset> sparse_rows(const ModelCard& card, const std::string& path, bool labels);

/// Returns the preparation of the model's table. Throws std::runtime_error if the card lacks it.
Preparation preparation_of(const ModelCard& card, const std::string& path);

/// A picture file with its name; `label` is set for those in folders of classes.
struct PictureFile {
  std::string path;
  std::string name;  ///< for messages: the path below the given folder
  std::uint8_t label = 0;
};

/// Returns whether the folder holds a published set (IDX or CIFAR-10) rather than picture files.
bool is_published(const std::string& dir);
/// Reads the test part of a published set, scaled like the model's training pictures. Throws
/// std::runtime_error "path: ..." if its pictures have another size or kind.
std::shared_ptr<Dataset> published_test(const ModelCard& card, const std::string& dir);

/// Finds a picture file itself, or those of a folder and its subfolders, sorted by name; their
/// labels are 0. At most a million. Throws std::runtime_error if there is none.
std::vector<PictureFile> find_pictures(const std::string& path);
/// Finds the pictures of a folder with a folder for each class of the model.
std::vector<PictureFile> find_labelled_pictures(const ModelCard& card, const std::string& dir);

/// Reads the files, which must have the model's size, with their labels.
std::shared_ptr<Dataset> read_pictures(const ModelCard& card,
                                       const std::vector<PictureFile>& files);

}  // namespace gv
