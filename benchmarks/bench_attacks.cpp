// Attacks on batches against plain one-by-one loops in libtorch with equal settings, on a LeNet-5 trained for
// a moment on procedural digits. The loops hold nothing of Assay: the layers are called directly, gradients
// come from autograd, C&W lets autograd see its change of variables, JSMA takes one backward pass per class
// and looks at all pairs at once as a matrix. Usage: bench_attacks [threads [records [ATTACK]]]

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>

#include <assay/attack_problem.h>
#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/training.h>
#include "assay/attack/preparation.h"
#include "assay/support/threads.h"

namespace assay::bench {
namespace {

using Network = std::function<Tensor(const Tensor&)>;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The layers of a LeNet, called one after the other.
Network plain_network(const Graph& graph) {
  std::vector<Network> layers;
  for (const Node& node : graph.nodes()) {
    const auto weight = [&](std::size_t i) { return to_tensor(graph.constant(node.inputs[i])).clone(); };
    if (node.op == "Conv") {
      const auto pad = node.integers("pads", {0, 0, 0, 0});
      layers.push_back([w = weight(1), b = weight(2), pad](const Tensor& x) {
        return at::conv2d(x, w, b, 1, {pad[0], pad[1]});
      });
    } else if (node.op == "Gemm") {
      layers.push_back([w = weight(1), b = weight(2)](const Tensor& x) { return at::linear(x, w, b); });
    } else if (node.op == "Relu") {
      layers.push_back([](const Tensor& x) { return at::relu(x); });
    } else if (node.op == "MaxPool") {
      layers.push_back([](const Tensor& x) { return at::max_pool2d(x, 2, 2); });
    } else if (node.op == "Flatten") {
      layers.push_back([](const Tensor& x) { return x.flatten(1); });
    } else {
      fail(Fault::internal, "the benchmark knows no {}", node.op);
    }
  }
  return [layers](Tensor x) {
    for (const Network& layer : layers) x = layer(x);
    return x;
  };
}

Tensor gradient(const Tensor& scalar, const Tensor& leaf, bool keep = false) {
  return torch::autograd::grad({scalar}, {leaf}, {}, keep)[0];
}

Tensor plain_fgsm(const Network& network, const Tensor& x, std::int64_t label, double eps) {
  const Tensor leaf = x.detach().requires_grad_();
  const Tensor loss = at::cross_entropy_loss(network(leaf), at::tensor(std::vector<std::int64_t>{label}));
  return (x + eps * gradient(loss, leaf).sign()).clamp(0, 1);
}

Tensor plain_iterated(const Network& network, const Tensor& x, Tensor at, std::int64_t label, double eps,
                      double step, int steps) {
  for (int i = 0; i < steps; ++i)
    at = (x + (plain_fgsm(network, at, label, step) - x).clamp(-eps, eps)).clamp(0, 1);
  return at;
}

Tensor plain_cw(const Network& network, const Tensor& x, std::int64_t label, int searches, int iterations) {
  const Tensor base = at::atanh(0.999999 * (2 * x - 1)), origin = (at::tanh(base) + 1) / 2;
  Tensor best = x;
  double lower = 0, upper = 1e10, c = 0.01, least = std::numeric_limits<double>::infinity();
  for (int search = 0; search < searches; ++search) {
    Tensor change = at::zeros_like(x), first = at::zeros_like(x), second = at::zeros_like(x);
    double previous = 1e6;
    bool found = false;
    for (int it = 0; it < iterations; ++it) {
      const Tensor leaf = change.detach().requires_grad_();
      const Tensor point = (at::tanh(base + leaf) + 1) / 2, distance = (point - origin).square().sum(),
                   z = network(point);
      const Tensor others = z.index_fill(1, at::tensor(std::vector<std::int64_t>{label}), -1e9);
      const Tensor loss = distance + c * (z.select(1, label) - others.amax(1)).clamp_min(0).sum();
      const Tensor g = gradient(loss, leaf);
      first = 0.9 * first + 0.1 * g;
      second = 0.999 * second + 0.001 * g * g;
      const double rate = 0.005 * std::sqrt(1 - std::pow(0.999, it + 1)) / (1 - std::pow(0.9, it + 1));
      change = change - rate * first / (second.sqrt() + 1e-8);
      const double value = loss.item<double>();
      if (it % std::max(1, iterations / 10) == 0) {
        if (value > 0.9999 * previous) break;
        previous = value;
      }
      if (z.argmax(1).item<std::int64_t>() == label) continue;
      found = true;
      if (distance.item<double>() < least) least = distance.item<double>(), best = point.detach();
    }
    (found ? upper : lower) = found ? std::min(upper, c) : std::max(lower, c);
    c = upper < 1e9 ? (lower + upper) / 2 : 10 * c;
  }
  return best;
}

Tensor plain_jsma(const Network& network, Tensor x, std::int64_t target) {
  Tensor domain = x.lt(1).flatten();
  const std::int64_t n = x.numel();
  for (std::int64_t i = 0; i < n / 2; ++i) {
    const Tensor leaf = x.detach().requires_grad_();
    const Tensor z = network(leaf);
    if (z.argmax(1).item<std::int64_t>() == target) break;
    Tensor a, b = at::zeros({n});
    for (std::int64_t k = 0; k < z.size(1); ++k) {
      const Tensor g = gradient(z.select(1, k).sum(), leaf, true).flatten();
      if (k == target)
        a = g;
      else
        b += g;
    }
    const Tensor gain = a.unsqueeze(0) + a.unsqueeze(1), loss = b.unsqueeze(0) + b.unsqueeze(1);
    const Tensor allowed =
        gain.gt(0).logical_and(loss.lt(0)).logical_and(domain.unsqueeze(0)).logical_and(domain.unsqueeze(1));
    Tensor score = at::where(allowed, -gain * loss, at::zeros({}));
    score.fill_diagonal_(0);
    if (score.max().item<double>() <= 0) break;
    const std::int64_t best = score.argmax().item<std::int64_t>();
    const Tensor chosen = at::tensor(std::vector<std::int64_t>{best / n, best % n});
    x = x.flatten().index_fill(0, chosen, 1).reshape_as(x);
    domain.index_fill_(0, chosen, false);
  }
  return x;
}

double success(const Network& network, const Tensor& points, const Tensor& classes, bool reached) {
  const at::NoGradGuard no_grad;
  return network(points).argmax(1).eq(classes).eq(reached).to(at::kDouble).mean().item<double>();
}

class Comparison {
 public:
  Comparison(const Session& session, DatasetPtr data, std::size_t records, std::string only)
      : data_(std::move(data)),
        network_(plain_network(session.graph())),
        preparation_(session, *data_, {.target = "none"}),
        aimed_(session, *data_, {.target = "next"}),
        records_(records),
        only_(std::move(only)) {
    std::vector<std::size_t> indices(data_->size());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    batch_ = data_->read(indices);
  }

  // `loop`: how many records the plain loop does; it does not get slower or faster with their number.
  void compare(const std::string& spec, std::size_t loop,
               const std::function<Tensor(const Tensor&, std::int64_t)>& plain) {
    if (!spec.starts_with(only_)) return;
    const bool aims = spec.starts_with("jsma");
    const attack::Preparation& preparation = aims ? aimed_ : preparation_;
    attack::AttackProblem problem = preparation.problem(batch_);
    problem = problem.at(at::arange(static_cast<std::int64_t>(std::min(records_, batch_.indices.size()))));
    const auto attack = attack::make_attack(parse_spec("attack", spec));
    const Tensor classes = aims ? problem.targets : problem.labels;
    if (spec.starts_with("fgsm"))
      attack->perturb(preparation.network(), problem);  // a first pass pays for memory
    Tensor found;
    const double batched = seconds([&] { found = attack->perturb(preparation.network(), problem); }) /
                           static_cast<double>(problem.size());
    std::vector<Tensor> singles;
    const auto count = std::min<std::int64_t>(static_cast<std::int64_t>(loop), problem.size());
    const double single =
        seconds([&] {
          for (std::int64_t i = 0; i < count; ++i)
            singles.push_back(plain(problem.inputs.narrow(0, i, 1), classes[i].item<std::int64_t>()));
        }) /
        static_cast<double>(count);
    fmt::print("{:50} {:9.1f} attacks/s, loop {:8.1f}, ratio {:6.1f}; success {:5.1f} %, loop {:5.1f} %\n",
               spec, 1 / batched, 1 / single, single / batched,
               100 * success(network_, found.narrow(0, 0, count), classes.narrow(0, 0, count), aims),
               100 * success(network_, at::cat(singles), classes.narrow(0, 0, count), aims));
    std::fflush(stdout);
  }

  const Network& network() const { return network_; }

 private:
  DatasetPtr data_;
  Network network_;
  attack::Preparation preparation_, aimed_;
  std::size_t records_;
  std::string only_;
  Batch batch_;
};

void run(int threads, std::size_t records, const std::string& only) {
  training::Recipe recipe;
  recipe.epochs = 2;
  recipe.batch = 64;
  const SessionOptions options{.threads = threads};
  const Session session(training::train(training::architectures().find("lenet5").build(),
                                        open_dataset("digits:3000"), nullptr, recipe, options, silence())
                            .graph,
                        options);
  Comparison comparison(session, open_dataset(fmt::format("digits:{},seed=2", records)), records, only);
  const Network& network = comparison.network();
  comparison.compare("fgsm[eps=0.1]", records,
                     [&](const Tensor& x, std::int64_t y) { return plain_fgsm(network, x, y, 0.1); });
  comparison.compare("bim[eps=0.1,step=0.02,steps=10]", 200, [&](const Tensor& x, std::int64_t y) {
    return plain_iterated(network, x, x, y, 0.1, 0.02, 10);
  });
  comparison.compare("pgd[eps=0.1,step=0.01,steps=40]", 50, [&](const Tensor& x, std::int64_t y) {
    return plain_iterated(network, x, (x + at::empty_like(x).uniform_(-0.1, 0.1)).clamp(0, 1), y, 0.1, 0.01,
                          40);
  });
  comparison.compare("cw[search=3,iterations=200]", 25,
                     [&](const Tensor& x, std::int64_t y) { return plain_cw(network, x, y, 3, 200); });
  comparison.compare("jsma", 10, [&](const Tensor& x, std::int64_t t) { return plain_jsma(network, x, t); });
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(assay::available_threads());
  assay::set_engine_threads(threads);
  assay::keep_freed_memory();
  assay::bench::run(threads, argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 500,
                    argc > 3 ? argv[3] : "");
}
