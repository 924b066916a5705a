#include "assay/relevance/attribution.h"

#include "assay/relevance/composite.h"
#include "assay/relevance/lrp.h"
#include "assay/relevance/methods.h"
#include "assay/support/error.h"
#include "assay/support/text.h"

namespace assay {
namespace {

struct Method {
  std::string_view name, summary, paper;
  std::unique_ptr<Attribution> (*make)(const Session&, const AttributionOptions&);
};

constexpr Method methods[] = {
    {"deeplift", "DeepLIFT rescale: differences from a reference", "Shrikumar et al., ICML 2017", make_deeplift},
    {"integrated-gradients", "gradients along the line from a baseline", "Sundararajan et al., ICML 2017", make_integrated_gradients},
    {"gradient-x-input", "gradient times value", "Shrikumar et al., 2016", make_gradient_x_input},
};

}  // namespace

std::vector<AttributionInfo> attributions() {
  std::vector<AttributionInfo> all;
  const auto add = [&](const auto& one) {
    all.push_back({std::string(one.name), std::string(one.summary), std::string(one.paper)});
  };
  for (const Composite& composite : composites()) add(composite);
  for (const Method& method : methods) add(method);
  return all;
}

std::unique_ptr<Attribution> make_attribution(const std::string& name, const Session& session,
                                              const AttributionOptions& options) {
  for (const Composite& composite : composites()) {
    if (composite.name == name) return std::make_unique<Lrp>(composite, session, options);
  }
  for (const Method& method : methods) {
    if (method.name == name) return method.make(session, options);
  }
  std::vector<std::string> names;
  for (const AttributionInfo& info : attributions()) names.push_back(info.name);
  fail(Fault::usage, "no attribution is named '{}'{}; there are {}", name, did_you_mean(name, names), joined(names));
}

bool carries_relevance(const Session& session, const Layer& layer) {
  AttributionOptions options;
  options.wanted = {layer.value};
  try {
    return Lrp(composites().front(), session, options).reaches(layer.value);
  } catch (const Error& error) {
    if (error.fault() == Fault::unsupported) return false;
    throw;
  }
}

}  // namespace assay
