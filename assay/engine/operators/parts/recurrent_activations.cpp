#include <algorithm>
#include <cctype>

#include "assay/engine/operators/parts/recurrent.h"

namespace assay::operators {
namespace {

struct Function {
  std::string_view name;  // lower case: ONNX compares without regard to case
  bool has_alpha, has_beta;
  float alpha, beta;  // defaults
  Array (*apply)(const Array& x, float alpha, float beta);
};

constexpr Function functions[] = {
    {"affine", true, true, 1, 0, [](const Array& x, float a, float b) { return x * a + b; }},
    {"elu", true, false, 1, 0, [](const Array& x, float a, float) { return array::elu(x, a); }},
    {"hardsigmoid", true, true, 0.2f, 0.5f,
     [](const Array& x, float a, float b) { return array::clamp(x * a + b, 0, 1); }},
    {"leakyrelu", true, false, 0.01f, 0,
     [](const Array& x, float a, float) { return array::leaky_relu(x, a); }},
    {"relu", false, false, 0, 0, [](const Array& x, float, float) { return array::relu(x); }},
    {"scaledtanh", true, true, 1, 1, [](const Array& x, float a, float b) { return array::tanh(x * b) * a; }},
    {"sigmoid", false, false, 0, 0, [](const Array& x, float, float) { return array::sigmoid(x); }},
    {"softplus", false, false, 0, 0, [](const Array& x, float, float) { return array::softplus(x); }},
    {"softsign", false, false, 0, 0, [](const Array& x, float, float) { return x / (1 + array::abs(x)); }},
    {"tanh", false, false, 0, 0, [](const Array& x, float, float) { return array::tanh(x); }},
    {"thresholdedrelu", true, false, 1, 0,
     [](const Array& x, float a, float) { return array::where(x > a, x, array::zeros_like(x)); }},
};

const Function* find(std::string name) {
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto found = std::ranges::find(functions, name, &Function::name);
  if (found == std::end(functions)) fail(Fault::unsupported, "activation '{}' is not supported", name);
  return found;
}

}  // namespace

std::vector<Activation> read_activations(const Call& call, std::size_t directions,
                                         const std::vector<std::string>& defaults) {
  std::vector<std::string> names = call.node.texts("activations", {});
  const std::size_t wanted = defaults.size() * directions;
  for (std::size_t d = 0; !call.node.has("activations") && d < directions; ++d) {
    names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != wanted)
    fail(Fault::model, "{} activations are given; {} are needed", names.size(), wanted);
  const auto alphas = call.node.reals("activation_alpha", {}), betas = call.node.reals("activation_beta", {});
  std::size_t alpha = 0, beta = 0;
  std::vector<Activation> all;
  for (const std::string& name : names) {
    const Function* const f = find(name);
    const float a = f->has_alpha && alpha < alphas.size() ? alphas[alpha++] : f->alpha;
    const float b = f->has_beta && beta < betas.size() ? betas[beta++] : f->beta;
    all.push_back([apply = f->apply, a, b](const Array& x) { return apply(x, a, b); });
  }
  return all;
}

}  // namespace assay::operators
