#include <assay/training.h>

#include <ATen/ATen.h>

#include <cmath>

namespace assay::training {
namespace {

// v <- momentum v - rate g;  w <- w + v.
class Sgd final : public Optimiser {
 public:
  explicit Sgd(const Recipe& recipe) : momentum_(recipe.momentum) {}
  std::size_t slots() const override { return 1; }
  void update(Tensor& value, const Tensor& gradient, std::vector<Tensor>& state, double rate,
              std::int64_t) const override {
    state[0].mul_(momentum_).sub_(gradient, rate);
    value.add_(state[0]);
  }

 private:
  double momentum_;
};

// Kingma and Ba, ICLR 2015.
class Adam final : public Optimiser {
 public:
  explicit Adam(const Recipe& recipe)
      : beta1_(recipe.beta1), beta2_(recipe.beta2), epsilon_(recipe.epsilon) {}
  std::size_t slots() const override { return 2; }
  void update(Tensor& value, const Tensor& gradient, std::vector<Tensor>& state, double rate,
              std::int64_t step) const override {
    state[0].mul_(beta1_).add_(gradient, 1 - beta1_);
    state[1].mul_(beta2_).addcmul_(gradient, gradient, 1 - beta2_);
    const auto t = static_cast<double>(step);
    const double corrected = rate * std::sqrt(1 - std::pow(beta2_, t)) / (1 - std::pow(beta1_, t));
    value.addcdiv_(state[0], state[1].sqrt().add_(epsilon_), -corrected);
  }

 private:
  double beta1_, beta2_, epsilon_;
};

// Zeiler 2012.
class Adadelta final : public Optimiser {
 public:
  explicit Adadelta(const Recipe& recipe) : rho_(recipe.rho), epsilon_(recipe.epsilon) {}
  std::size_t slots() const override { return 2; }
  void update(Tensor& value, const Tensor& gradient, std::vector<Tensor>& state, double rate,
              std::int64_t) const override {
    state[0].mul_(rho_).addcmul_(gradient, gradient, 1 - rho_);
    const Tensor change = gradient * (state[1] + epsilon_).sqrt_().div_((state[0] + epsilon_).sqrt_());
    value.sub_(change, rate);
    state[1].mul_(rho_).addcmul_(change, change, 1 - rho_);
  }

 private:
  double rho_, epsilon_;
};

// Tieleman and Hinton 2012.
class RmsProp final : public Optimiser {
 public:
  explicit RmsProp(const Recipe& recipe) : rho_(recipe.rho), epsilon_(recipe.epsilon) {}
  std::size_t slots() const override { return 1; }
  void update(Tensor& value, const Tensor& gradient, std::vector<Tensor>& state, double rate,
              std::int64_t) const override {
    state[0].mul_(rho_).addcmul_(gradient, gradient, 1 - rho_);
    value.addcdiv_(gradient, state[0].sqrt().add_(epsilon_), -rate);
  }

 private:
  double rho_, epsilon_;
};

template <typename T>
std::unique_ptr<Optimiser> make(const Recipe& recipe) {
  return std::make_unique<T>(recipe);
}

}  // namespace

Catalogue<OptimiserInfo>& optimisers() {
  static Catalogue<OptimiserInfo> all(
      {"optimiser"}, {{"sgd", "gradient descent with momentum", make<Sgd>},
                      {"adam", "moments of the gradient, corrected for their start", make<Adam>},
                      {"adadelta", "steps as large as those before, no rate of its own", make<Adadelta>},
                      {"rmsprop", "gradients over their running root mean square", make<RmsProp>}});
  return all;
}

}  // namespace assay::training
