// Optimisers as Keras 2.3 defines them, with its learning rates and constants.

#include <assay/extend/optimisers.h>
#include <assay/training.h>

#include <assay/array_math.h>

#include <array>
#include <cmath>

namespace assay::training {
namespace {

// An option from 0 to 1.
double fraction(const SpecOptions& options, const std::string& name) {
  const double value = options.number(name, 0);
  if (value > 1) fail(Fault::usage, "{} {}: a number from 0 to 1", name, value);
  return value;
}

double positive(const SpecOptions& options, const std::string& name) {
  const double value = options.number(name);
  if (!(value > 0)) fail(Fault::usage, "{} {}: a number above 0", name, value);
  return value;
}

const SpecOption epsilon{"epsilon", "1e-7", "keeps divisors from 0"};
const SpecOption beta1{"beta1", "0.9", "share of the running mean of gradients that stays, from 0 to 1"};
const SpecOption beta2{"beta2", "0.999", "the same for their squares or sizes"};

// v <- momentum v - rate g;  w <- w + v, or with Nesterov's look ahead w <- w + momentum v - rate g.
class Sgd final : public Optimiser {
 public:
  explicit Sgd(const SpecOptions& options) : momentum_(fraction(options, "momentum")) {
    static const std::array<std::string, 2> words{"true", "false"};
    nesterov_ = options.word("nesterov", words) == "true";
    if (nesterov_ && momentum_ == 0)
      fail(Fault::usage, "sgd: nesterov looks ahead along the momentum, which is 0; give momentum=0.9, say");
  }
  std::size_t slots() const override { return momentum_ == 0 ? 0 : 1; }
  void update(Array& value, const Array& gradient, std::vector<Array>& state, double rate,
              std::int64_t) const override {
    if (momentum_ == 0) {
      value.add_(gradient, -rate);
      return;
    }
    state[0].mul_(momentum_).add_(gradient, -rate);
    if (nesterov_) {
      value.add_(state[0], momentum_).add_(gradient, -rate);
    } else {
      value.add_(state[0]);
    }
  }

 private:
  double momentum_;
  bool nesterov_ = false;
};

// Those that keep running means of gradients and of their squares or sizes.
class OfTwoMoments : public Optimiser {
 public:
  explicit OfTwoMoments(const SpecOptions& options)
      : beta1_(fraction(options, "beta1")),
        beta2_(fraction(options, "beta2")),
        epsilon_(positive(options, "epsilon")) {}
  std::size_t slots() const override { return 2; }

 protected:
  double beta1_, beta2_, epsilon_;
};

// Kingma and Ba, ICLR 2015.
class Adam final : public OfTwoMoments {
 public:
  using OfTwoMoments::OfTwoMoments;
  void update(Array& value, const Array& gradient, std::vector<Array>& state, double rate,
              std::int64_t step) const override {
    state[0].mul_(beta1_).add_(gradient, 1 - beta1_);
    state[1].mul_(beta2_).addcmul_(gradient, gradient, 1 - beta2_);
    const double t = step;
    const double corrected = rate * std::sqrt(1 - std::pow(beta2_, t)) / (1 - std::pow(beta1_, t));
    value.addcdiv_(state[0], state[1].sqrt().add_(epsilon_), -corrected);
  }
};

// The same paper: the largest gradient of late instead of the root mean square.
class Adamax final : public OfTwoMoments {
 public:
  using OfTwoMoments::OfTwoMoments;
  void update(Array& value, const Array& gradient, std::vector<Array>& state, double rate,
              std::int64_t step) const override {
    state[0].mul_(beta1_).add_(gradient, 1 - beta1_);
    state[1].copy_(array::maximum(state[1] * beta2_, gradient.abs()));
    const double corrected = rate / (1 - std::pow(beta1_, step));
    value.addcdiv_(state[0], state[1] + epsilon_, -corrected);
  }
};

// Dozat, ICLR workshop 2016: Adam with Nesterov's look ahead and a momentum that warms up.
class Nadam final : public OfTwoMoments {
 public:
  using OfTwoMoments::OfTwoMoments;
  void update(Array& value, const Array& gradient, std::vector<Array>& state, double rate,
              std::int64_t step) const override {
    const double now = momentum(step), next = momentum(step + 1), product = product_to(step);
    state[0].mul_(beta1_).add_(gradient, 1 - beta1_);
    state[1].mul_(beta2_).addcmul_(gradient, gradient, 1 - beta2_);
    const Array ahead = (gradient * ((1 - now) / (1 - product))).add_(state[0], next / (1 - product * next));
    const double square = 1 - std::pow(beta2_, step);
    value.addcdiv_(ahead, (state[1] / square).sqrt_().add_(epsilon_), -rate);
  }

 private:
  double momentum(std::int64_t step) const { return beta1_ * (1 - 0.5 * std::pow(0.96, 0.004 * step)); }
  // Of the momenta of steps 1 to `step`; 0 once it is too small to count.
  double product_to(std::int64_t step) const {
    double product = 1;
    for (std::int64_t t = 1; t <= step && product > 1e-30; ++t) product *= momentum(t);
    return product;
  }
};

// Duchi, Hazan and Singer 2011.
class Adagrad final : public Optimiser {
 public:
  explicit Adagrad(const SpecOptions& options) : epsilon_(positive(options, "epsilon")) {}
  std::size_t slots() const override { return 1; }
  void update(Array& value, const Array& gradient, std::vector<Array>& state, double rate,
              std::int64_t) const override {
    state[0].addcmul_(gradient, gradient);
    value.addcdiv_(gradient, state[0].sqrt().add_(epsilon_), -rate);
  }

 private:
  double epsilon_;
};

// Zeiler 2012.
class Adadelta final : public Optimiser {
 public:
  explicit Adadelta(const SpecOptions& options)
      : rho_(fraction(options, "rho")), epsilon_(positive(options, "epsilon")) {}
  std::size_t slots() const override { return 2; }
  void update(Array& value, const Array& gradient, std::vector<Array>& state, double rate,
              std::int64_t) const override {
    state[0].mul_(rho_).addcmul_(gradient, gradient, 1 - rho_);
    const Array change = (state[1] + epsilon_).sqrt_().div_((state[0] + epsilon_).sqrt_()).mul_(gradient);
    value.add_(change, -rate);
    state[1].mul_(rho_).addcmul_(change, change, 1 - rho_);
  }

 private:
  double rho_, epsilon_;
};

// Tieleman and Hinton 2012.
class RmsProp final : public Optimiser {
 public:
  explicit RmsProp(const SpecOptions& options)
      : rho_(fraction(options, "rho")), epsilon_(positive(options, "epsilon")) {}
  std::size_t slots() const override { return 1; }
  void update(Array& value, const Array& gradient, std::vector<Array>& state, double rate,
              std::int64_t) const override {
    state[0].mul_(rho_).addcmul_(gradient, gradient, 1 - rho_);
    value.addcdiv_(gradient, state[0].sqrt().add_(epsilon_), -rate);
  }

 private:
  double rho_, epsilon_;
};

template <typename T>
std::unique_ptr<Optimiser> make(const SpecOptions& options) {
  return std::make_unique<T>(options);
}

}  // namespace

Catalogue<OptimiserInfo>& optimisers() {
  const auto rho = [](const char* value) {
    return SpecOption{"rho", value, "share of the running mean of squares that stays, from 0 to 1"};
  };
  static Catalogue<OptimiserInfo> all(
      {"optimiser"}, {{"sgd",
                       "gradient descent, with momentum if wanted",
                       "Polyak 1964; Nesterov 1983",
                       0.01,
                       {{"momentum", "0", "share of the last step that is taken again, from 0 to 1"},
                        {"nesterov", "false", "whether the gradient counts after the momentum's step"}},
                       make<Sgd>},
                      {"rmsprop",
                       "gradients over their running root mean square",
                       "Tieleman and Hinton 2012",
                       0.001,
                       {rho("0.9"), epsilon},
                       make<RmsProp>},
                      {"adagrad",
                       "gradients over the root of the sum of all their squares",
                       "Duchi, Hazan and Singer, JMLR 2011",
                       0.01,
                       {epsilon},
                       make<Adagrad>},
                      {"adadelta",
                       "steps as large as those before, without a learning rate",
                       "Zeiler 2012",
                       1.0,
                       {rho("0.95"), epsilon},
                       make<Adadelta>},
                      {"adam",
                       "moments of the gradient, corrected for their start",
                       "Kingma and Ba, ICLR 2015",
                       0.001,
                       {beta1, beta2, epsilon},
                       make<Adam>},
                      {"adamax",
                       "Adam with the largest gradient of late for the root mean square",
                       "Kingma and Ba, ICLR 2015",
                       0.002,
                       {beta1, beta2, epsilon},
                       make<Adamax>},
                      {"nadam",
                       "Adam that looks ahead as Nesterov does, with a momentum that warms up",
                       "Dozat, ICLR workshop 2016",
                       0.002,
                       {beta1, beta2, epsilon},
                       make<Nadam>}});
  return all;
}

}  // namespace assay::training
