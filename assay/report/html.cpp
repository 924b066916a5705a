// The report: result documents written into the page that is built from web/report.

#include <nlohmann/json.hpp>

#include <assay/error.h>
#include <assay/report.h>
#include "assay/report/page.h"
#include "assay/support/file.h"
#include "assay/support/text.h"

namespace assay::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t largest_picture = 8 << 20;  // bytes

// Rows as arrays in the order of the columns, which large tables need to stay small.
void compact(Json& table) {
  for (Json& row : table["rows"]) {
    Json cells = Json::array();
    for (auto& cell : row) cells.push_back(std::move(cell));
    row = std::move(cells);
  }
}

// Pictures that can be read travel inside the page.
void embed(Json& picture) {
  try {
    picture["data"] =
        "data:image/png;base64," + base64(read_file(picture.at("path").get<std::string>(), largest_picture));
  } catch (const Error&) {
    picture["data"] = nullptr;
  }
}

}  // namespace

std::string to_html(std::span<const Document> documents) {
  Json all = Json::array();
  for (const Document& document : documents) {
    Json json = Json::parse(to_json(document));
    for (auto& [id, table] : json["tables"].items()) compact(table);
    for (Json& picture : json["pictures"]) embed(picture);
    all.push_back(std::move(json));
  }
  const std::string text =
      Json({{"documents", std::move(all)}}).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string data;
  for (const char c : text)
    data += c == '<' ? std::string("\\u003c") : std::string(1, c);  // never ends the script element
  std::string page(report_page());
  constexpr std::string_view place = "PLACEHOLDER";
  page.replace(page.find(place), place.size(), data);
  return page;
}

std::string to_html(const Document& document) { return to_html(std::span(&document, 1)); }

}  // namespace assay::report
