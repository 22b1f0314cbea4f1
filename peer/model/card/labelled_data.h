#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/data/table/prepared_rows.h"
#include "peer/model/card/model_card.h"

namespace gv {

/// Samples of the kind that the model learnt, with what is right of each, prepared exactly as in
/// training. `path`: for a table a file with its columns and its target; for pictures a folder with
/// a folder for each class, or a published set, of which the test part is taken; for sparse rows a
/// LIBSVM file; for a text a text. Throws std::runtime_error "path: what is wrong, and what to do".
std::shared_ptr<const Dataset> labelled_data(const ModelCard& card, const std::string& path);

/// Sparse rows; labels are compared with the model's classes where `labels` says so.
std::shared_ptr<Dataset> sparse_rows(const ModelCard& card, const std::string& path, bool labels);

/// Returns how the model's table was prepared. Throws std::runtime_error where the card is silent.
Preparation preparation_of(const ModelCard& card, const std::string& path);

/// Picture files with their names; `label` of those in folders of classes.
struct PictureFile {
  std::string path;
  std::string name;  ///< as it is told to the user: below the folder that was named
  std::uint8_t label = 0;
};

/// Returns whether the folder holds a published set (IDX or CIFAR-10) rather than picture files.
bool is_published(const std::string& dir);
/// The test part of a published set, scaled as the model's training pictures were. Throws
/// std::runtime_error "path: ..." where its pictures are of another size or kind.
std::shared_ptr<Dataset> published_test(const ModelCard& card, const std::string& dir);

/// A picture file itself, or those of a folder and of the folders in it, sorted by name; their
/// labels are 0. At most a million. Throws std::runtime_error where there is none.
std::vector<PictureFile> find_pictures(const std::string& path);
/// The pictures of a folder with a folder for each class of the model.
std::vector<PictureFile> find_labelled_pictures(const ModelCard& card, const std::string& dir);

/// Reads them; they must have the model's size. With their labels.
std::shared_ptr<Dataset> read_pictures(const ModelCard& card,
                                       const std::vector<PictureFile>& files);

}  // namespace gv
