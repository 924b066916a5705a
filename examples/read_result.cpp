// Reads a result document as `assay ... --json FILE` writes it, and looks things up in it.
#include <assay/report.h>

#include <iostream>

int main() {
  using namespace assay;
  report::Document written{.command = "cover", .headline = "an example"};
  written.tables.push_back(
      {.id = "layers",
       .title = "Layers",
       .columns = {{"layer", "layer"}, {"value", "value", report::Column::Kind::percent}},
       .rows = {{std::string("conv1"), 0.5}, {std::string("fc1"), 0.25}}});
  const std::string text = report::to_json(written);  // what the file holds

  const report::Document document = report::read_document(text, "result.json");
  std::cout << document.command << ": " << document.headline << "\n";
  for (const report::Table& table : document.tables)
    for (const auto& row : table.rows)
      std::cout << std::get<std::string>(row[0]) << " " << std::get<double>(row[1]) << "\n";
}
