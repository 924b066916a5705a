// Tasks with one decision a record, which <assay/evaluate.h> measures: they are here to be named.

#include <assay/extend/task.h>

namespace assay::task {

TaskInfo classes_task() {
  return {.name = "classes",
          .summary = "one class a record",
          .definition =
              "the class with the greatest score, the first among equals; labels are whole numbers, also "
              "where the data hold them as floating-point numbers. accuracy, by class too, confusions "
              "and calibration",
          .limits = "one label a record",
          .paper = "Guo et al., ICML 2017, for calibration",
          .options = {},
          .record_labels = true};
}

TaskInfo binary_task() {
  return {
      .name = "binary",
      .summary = "yes or no a record, by one score or two",
      .definition =
          "class 1 above the threshold and class 0 below, exactly as the same network with scores -z/2 and "
          "z/2. A threshold t shifts the score z: by -log(t / (1 - t)) where it is one of probabilities, "
          "so that what is explained, attacked, mutated, trained and calibrated is the network whose last "
          "layer has that bias; networks are written with their own. Labels are 0 and 1, also where the "
          "data hold them as floating-point numbers",
      .limits = "two classes; a threshold is for networks with one score",
      .paper = "Guo et al., ICML 2017, for calibration",
      .options = {{"threshold", "", "class 1 is above it; empty: the probability 0.5, the score 0"},
                  {"of", "probability",
                   "what the threshold is of: probability (the sigmoid of a score that is none), or score"}},
      .record_labels = true};
}

}  // namespace assay::task
