#include <assay/faithfulness.h>

namespace assay::relevance {

// One line for each: NAME_quality() is defined in the file of that name.
#define ASSAY_QUALITIES(X) \
  X(deletion)              \
  X(insertion)             \
  X(max_sensitivity)       \
  X(infidelity)            \
  X(faithfulness_correlation)

#define DECLARE_QUALITY(name) QualityInfo name##_quality();
ASSAY_QUALITIES(DECLARE_QUALITY)
#undef DECLARE_QUALITY
#define LIST_QUALITY(name) name##_quality(),

Catalogue<QualityInfo>& qualities() {
  static Catalogue<QualityInfo> all(
      {"measure of explanations", "docs/algorithms/faithfulness.md explains them"},
      {ASSAY_QUALITIES(LIST_QUALITY)});
  return all;
}
#undef LIST_QUALITY

}  // namespace assay::relevance
