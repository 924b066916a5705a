// LSA and DSA at LeNet-5's size (84 dimensions, 60,000 training and 10,000 test records, 10 classes) against
// plain float64 loops on a sample of the test records, scaled to all. Usage: bench_surprise [threads] With a
// second argument, LSA and MDSA alone for traces that wide and 50,000 training records: bench_surprise 2 2000

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include <assay/extend/random.h>
#include "assay/support/threads.h"
#include "assay/surprise/dsa.h"
#include "assay/surprise/lsa.h"

namespace assay::bench {
namespace {

constexpr std::size_t dimensions = 84, classes = 10, training_records = 60'000, test_records = 10'000,
                      sample = 20, wide_records = 50'000;

struct Set {
  std::vector<float> values;
  std::vector<std::int32_t> classes;
  std::size_t width = dimensions;
  surprise::Traces view() const { return {values, width, classes}; }
};

// Clusters as a ReLU leaves them: about half of the values are zero.
Set make(std::uint64_t stream, std::size_t records, std::size_t width = dimensions) {
  Rng centres(7), rng(7, {stream});
  std::vector<double> centre(classes * width);
  for (double& c : centre) c = centres.normal();
  Set set;
  set.width = width;
  for (std::size_t i = 0; i < records; ++i) {
    const std::size_t c = rng.below(classes);
    set.classes.push_back(static_cast<std::int32_t>(c));
    for (std::size_t d = 0; d < width; ++d)
      set.values.push_back(static_cast<float>(std::max(0.0, centre[c * width + d] + rng.normal())));
  }
  return set;
}

template <typename Work>
double seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double distance(const float* a, const float* b) {
  double sum = 0;
  for (std::size_t d = 0; d < dimensions; ++d)
    sum += (static_cast<double>(a[d]) - b[d]) * (static_cast<double>(a[d]) - b[d]);
  return sum;
}

std::size_t nearest(const surprise::Traces& training, const float* x, std::int32_t c, bool same) {
  double best = std::numeric_limits<double>::infinity();
  std::size_t index = 0;
  for (std::size_t i = 0; i < training.records(); ++i) {
    if ((training.classes[i] == c) != same) continue;
    const double d = distance(x, training.row(i));
    if (d < best) best = d, index = i;
  }
  return index;
}

int run(std::size_t threads) {
  const Set training = make(1, training_records), test = make(2, test_records);
  std::vector<surprise::DsaScore> dsa;
  std::vector<surprise::SurpriseScore> lsa;
  const double dsa_time =
      seconds([&] { dsa = surprise::DsaReference(training.view()).score(test.view(), {threads}); });
  const double lsa_time = seconds(
      [&] { lsa = surprise::LsaReference(training.view(), {}, threads).score(test.view(), {threads}); });
  std::size_t equal = 0;
  const double plain =
      seconds([&] {
        for (std::size_t i = 0; i < sample; ++i) {
          const std::size_t a = nearest(training.view(), test.view().row(i), test.classes[i], true);
          const std::size_t b = nearest(training.view(), training.view().row(a), test.classes[i], false);
          equal += a == dsa[i].nearest &&
                           std::fabs(std::sqrt(distance(training.view().row(a), training.view().row(b))) -
                                     dsa[i].dist_b) < 1e-9
                       ? 1
                       : 0;
        }
      }) *
      (static_cast<double>(test_records) / static_cast<double>(sample));
  fmt::print("DSA {:.2f} s, LSA {:.2f} s, together {:.2f} s on {} threads (learning included)\n", dsa_time,
             lsa_time, dsa_time + lsa_time, threads);
  fmt::print("plain DSA, one thread, {} of {} records, scaled: {:.1f} s, ratio {:.0f}; {} of {} equal\n",
             sample, test_records, plain, plain / dsa_time, equal, sample);
  return equal == sample ? 0 : 1;
}

int run_wide(std::size_t threads, std::size_t width) {
  const Set training = make(1, wide_records, width), test = make(2, test_records, width);
  const double learning = seconds([&] { surprise::learn_gaussians(training.view(), {}, threads); });
  fmt::print("{} dimensions, {} training records: covariances and factors {:.1f} s on {} threads\n", width,
             wide_records, learning, threads);
  std::fflush(stdout);
  const double mdsa =
      seconds([&] { surprise::MdsaReference(training.view(), {}, threads).score(test.view()); });
  const double lsa =
      seconds([&] { surprise::LsaReference(training.view(), {}, threads).score(test.view(), {threads}); });
  fmt::print("MDSA {:.1f} s, LSA {:.1f} s for {} test records (learning included)\n", mdsa, lsa,
             test_records);
  return 0;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const std::size_t threads = argc > 1 ? std::stoul(argv[1]) : assay::available_threads();
  return argc > 2 ? assay::bench::run_wide(threads, std::stoul(argv[2])) : assay::bench::run(threads);
}
