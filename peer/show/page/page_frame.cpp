#include "peer/show/page/page_frame.h"

#include <fmt/format.h>

#include "peer/show/page/page_style.h"
#include "peer/show/page/svg.h"

namespace gv {

std::string page_around(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      svg::escape(title),
      page_style(),
      body);
}

}  // namespace gv
