#include <assay/relevance.h>

#include <assay/error.h>
#include "assay/relevance/composite.h"
#include "assay/relevance/lrp.h"
#include "assay/relevance/methods.h"
#include "assay/relevance/reach.h"

namespace assay::relevance {
namespace {

AttributionInfo info_of(const Composite& composite) {
  return {std::string(composite.name), std::string(composite.summary), std::string(composite.paper),
          [&composite](const Session& session, const AttributionOptions& options) {
            return std::make_unique<Lrp>(composite, session, options);
          }};
}

std::vector<AttributionInfo> built_in() {
  std::vector<AttributionInfo> all;
  for (const Composite& composite : composites()) all.push_back(info_of(composite));
  all.push_back({"deeplift", "DeepLIFT rescale: differences from a reference", "Shrikumar et al., ICML 2017",
                 make_deeplift});
  all.push_back({"integrated-gradients", "gradients along the line from a baseline",
                 "Sundararajan et al., ICML 2017", make_integrated_gradients});
  all.push_back(
      {"gradient-x-input", "gradient times value", "Shrikumar et al., 2016", make_gradient_x_input});
  return all;
}

}  // namespace

Catalogue<AttributionInfo>& attributions() {
  static Catalogue<AttributionInfo> all({"attribution"}, built_in());
  return all;
}

std::unique_ptr<Attribution> make_attribution(const std::string& name, const Session& session,
                                              const AttributionOptions& options) {
  return attributions().find(name).make(session, options);
}

std::vector<bool> values_with_relevance(const Session& session) {
  return Lrp::reachable(composites().front(), session);
}

bool carries_relevance(const Session& session, const Layer& layer) {
  return values_with_relevance(session)[static_cast<std::size_t>(layer.value)];
}

}  // namespace assay::relevance
