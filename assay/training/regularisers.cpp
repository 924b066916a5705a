#include <assay/extend/optimisers.h>
#include <assay/training.h>

#include "assay/training/recipe_parts.h"

namespace assay::training {
namespace {

double amount(const SpecOptions& options, const std::string& name) {
  const double value = options.number(name);
  if (!(value > 0)) fail(Fault::usage, "regularisation: {} {} must be above 0", name, value);
  return value;
}

}  // namespace

Catalogue<RegulariserInfo>& regularisers() {
  static Catalogue<RegulariserInfo> all(
      {"regulariser"}, {{"l1",
                         "amount times the sum of the sizes of weights",
                         {{"amount", "0.01", "what one unit of weight costs"}, layer_option()},
                         [](const SpecOptions& options) {
                           return Penalty{amount(options, "amount"), 0};
                         }},
                        {"l2",
                         "amount times the sum of the squares of weights",
                         {{"amount", "0.01", "what a weight of 1 costs"}, layer_option()},
                         [](const SpecOptions& options) {
                           return Penalty{0, amount(options, "amount")};
                         }},
                        {"l1-l2",
                         "both",
                         {{"l1", "0.01", "amount of l1"}, {"l2", "0.01", "amount of l2"}, layer_option()},
                         [](const SpecOptions& options) {
                           return Penalty{amount(options, "l1"), amount(options, "l2")};
                         }}});
  return all;
}

}  // namespace assay::training
