// The report: result documents written into the page that is built from web/report.

#include <assay/error.h>
#include <assay/report.h>
#include "assay/report/json_tree.h"
#include "assay/report/page.h"
#include "assay/support/files/file.h"
#include "assay/support/text/text.h"
#include "assay/support/text/visible.h"

namespace assay::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t largest_picture = 8 << 20;  // bytes

// A document may name any file; only what begins and ends as PNG files do goes into a page.
bool is_png(std::string_view bytes) {
  using std::string_view_literals::operator""sv;
  return bytes.starts_with("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"sv) &&
         bytes.ends_with("\0\0\0\0IEND\xAE\x42\x60\x82"sv);
}

// What is drawn by the program itself (heat maps of texts). A page shows it as a picture, in which nothing
// runs.
bool is_svg(std::string_view bytes) {
  return bytes.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && bytes.ends_with("</svg>\n") &&
         bytes.find("<script") == bytes.npos;
}

// Texts in which nothing acts on how the page around them is read, keys included.
void show_plainly(Json& json) {
  if (json.is_string()) json = visible(json.get_ref<const std::string&>(), "\n\t");
  if (json.is_array()) {
    for (Json& part : json) show_plainly(part);
  }
  if (!json.is_object()) return;
  Json shown = Json::object();
  for (auto& [key, part] : json.items()) {
    show_plainly(part);
    shown[visible(key)] = std::move(part);
  }
  json = std::move(shown);
}

// Pictures that can be read travel inside the page.
void embed(Json& picture) {
  picture["data"] = nullptr;
  try {
    const fs::path path = picture.at("path").get<std::string>();
    if (!fs::is_regular_file(path)) return;
    const std::string bytes = read_file(path, largest_picture);
    if (is_png(bytes)) picture["data"] = "data:image/png;base64," + base64(bytes);
    if (is_svg(bytes)) picture["data"] = "data:image/svg+xml;base64," + base64(bytes);
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
  } catch (const std::exception&) {
    // Then the page says that it is not there.
  }
}

}  // namespace

std::string to_html(std::span<const Document> documents) {
  Json all = Json::array();
  for (const Document& document : documents) {
    Json json = json_tree(document, Rows::arrays);
    for (Json& picture : json["pictures"]) embed(picture);
    show_plainly(json);
    all.push_back(std::move(json));
  }
  const std::string text =
      Json({{"documents", std::move(all)}}).dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::string_view place = "PLACEHOLDER";
  const std::string_view page = report_page();
  const std::size_t begin = page.find(place);
  std::string filled;
  filled.reserve(page.size() + text.size() + text.size() / 16);
  filled += page.substr(0, begin);
  for (const char c : text) {
    if (c == '<')
      filled += "\\u003c";  // never ends the script element
    else
      filled += c;
  }
  filled += page.substr(begin + place.size());
  return filled;
}

std::string to_html(const Document& document) { return to_html(std::span(&document, 1)); }

}  // namespace assay::report
