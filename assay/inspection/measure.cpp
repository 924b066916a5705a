#include <assay/extend/measure.h>

#include <algorithm>

#include <assay/error.h>

namespace assay::inspection {

// One line for each: NAME_measure() is defined in measures/.
#define ASSAY_MEASURES(X) \
  X(pearson)              \
  X(spearman)             \
  X(mean_difference)      \
  X(cohen_d)              \
  X(jaccard)              \
  X(mutual_information)   \
  X(auc)                  \
  X(logistic_l1)          \
  X(logistic_l2)          \
  X(multiclass)           \
  X(linear)               \
  X(majority)             \
  X(random)               \
  X(selectivity)          \
  X(mdl)

#define DECLARE(name) MeasureInfo name##_measure();
ASSAY_MEASURES(DECLARE)
#undef DECLARE
#define LIST(name) name##_measure(),

Catalogue<MeasureInfo>& measures() {
  static Catalogue<MeasureInfo> all({"measure", "`assay measures` explains them"}, {ASSAY_MEASURES(LIST)});
  return all;
}
#undef LIST

const MeasureInfo& info_of(const MeasureChoice& choice) {
  return choice.object() ? *choice.object() : measures().find(choice.spec().name);
}

MeasureChoice measure_choice(const std::string& text) {
  Spec spec = parse_spec(MeasureInfo::kind, text);
  for (const MeasureInfo& info : measures()) {
    if (std::ranges::find(info.aliases, spec.name) != info.aliases.end()) spec.name = info.name;
  }
  return spec;
}

void MeasureState::merge(const MeasureState&) {
  fail(Fault::usage,
       "this measure learns row by row, so that parts of a data set cannot be merged: run it on the whole "
       "set");
}

}  // namespace assay::inspection
