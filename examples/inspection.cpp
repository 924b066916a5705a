// Which units of a layer follow which class? Trains a LeNet-5 on drawn digits and inspects a layer.
#include <assay/inspection.h>
#include <assay/training.h>

#include <iostream>

int main() {
  using namespace assay;
  const DatasetPtr digits = open_dataset("digits:400");
  const training::Recipe recipe{.batch = 32, .epochs = 2};
  const auto network =
      std::make_shared<const Session>(training::train(training::architectures().find("lenet5").build(),
                                                      digits, nullptr, recipe, {}, silence())
                                          .graph);

  const inspection::UnitGroup group{.name = "fc", .layer = network->penultimate_layer().name};
  const auto seen = inspection::inspect({{"lenet5", network}}, {group}, digits, {"label"}, {}, silence());
  const inspection::ScoreRow* best = nullptr;
  for (const inspection::ScoreRow& row : seen.rows) {
    if (row.unit && row.score.status.empty() && (!best || row.score.value > best->score.value)) best = &row;
  }
  std::cout << seen.rows.size() << " scores from " << seen.records_read << " of " << seen.records
            << " records\n"
            << "unit " << *best->unit << " follows " << best->hypothesis << ": " << best->score.value << "\n";
}
