#include "assay/audit/curves/curve_forms.h"

namespace assay::audit {

const std::vector<CurveForm>& curve_forms() {
  static const std::vector<CurveForm> all{
      {"line", line}, {"parabola", parabola}, {"exponential", exponential}, {"steps", steps}, {"tree", tree}};
  return all;
}

}  // namespace assay::audit
