#pragma once

#include <string>
#include <vector>

namespace gv {

/// A figure of a picture, and what stands over it.
struct PicturePanel {
  std::string title;
  std::string figure;  ///< an image of svg::image, such as a lines_figure; all of one size
};

/// An SVG file of its own: the panels two beside each other, with the colours and the marks of a
/// report, light or dark as the reader's screen asks. Empty without a panel that has a figure.
std::string picture_file(const std::string& title, const std::vector<PicturePanel>& panels);

/// A figure of a page as an SVG file of its own, with the page's colours on white: for paper.
std::string figure_file(const std::string& figure);

}  // namespace gv
