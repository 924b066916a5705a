// Eleven criteria in one pass over all layers of LeNet-5 against the plain forward pass over the same 10,000 records, and
// combining states at the speed of memory. Processor time is beside the time by the clock, since it is the steadier of the
// two where others use the machine. Usage: bench_coverage [threads [together]]; "together" leaves out each criterion alone.

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>

#include "assay/coverage/learn.h"
#include "assay/coverage/measure.h"
#include "assay/support/threads.h"
#include "benchmarks/networks.h"

namespace assay::bench {
namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The least of several turns, by the clock and of processor time.
struct Least {
  double seconds = std::numeric_limits<double>::infinity(), processor = seconds;
  void turn(const std::function<void()>& work) {
    const std::clock_t start = std::clock();
    seconds = std::min(seconds, bench::seconds(work));
    processor = std::min(processor, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
};

// Records in memory, so that reading costs nothing but a copy.
class Records final : public Dataset {
 public:
  explicit Records(std::size_t count) : count_(count), values_(at::rand({static_cast<std::int64_t>(count), 784})) {}
  std::size_t size() const override { return count_; }
  Shape record_shape() const override { return {1, 28, 28}; }
  DType dtype() const override { return DType::float32; }
  std::string id(std::size_t i) const override { return std::to_string(i); }
  bool has_labels() const override { return false; }
  std::int64_t label(std::size_t) const override { return 0; }
  std::size_t class_count() const override { return 0; }
  std::vector<std::string> class_names() const override { return {}; }
  std::size_t target_width() const override { return 1; }  // all records count for importance
  std::optional<ValidRange> valid_range() const override { return std::nullopt; }
  Batch read(std::span<const std::size_t> indices) const override {
    std::vector<float> rows;
    rows.reserve(indices.size() * 784);
    for (const std::size_t i : indices) rows.insert(rows.end(), values_.data_ptr<float>() + i * 784, values_.data_ptr<float>() + (i + 1) * 784);
    Batch batch;
    batch.indices.assign(indices.begin(), indices.end());
    batch.inputs = Array::of<float>({static_cast<std::int64_t>(indices.size()), 1, 28, 28}, rows);
    batch.targets = Array::of<float>({static_cast<std::int64_t>(indices.size()), 10}, std::vector<float>(indices.size() * 10));
    return batch;
  }
  std::string hash() const override { return std::to_string(count_); }
  std::string describe() const override { return "random records"; }

 private:
  std::size_t count_;
  at::Tensor values_;
};

void run(int threads, bool each) {
  const Graph graph = lenet5();
  const Session session(graph, {.threads = threads});
  LearnOptions learn;
  for (const char* text : {"nc", "kmnc", "nbc", "snac", "tknc", "bknc", "tknp", "nlc", "ss", "idc[m=6]", "idc[m=12]"}) learn.criteria.push_back(parse_spec("criterion", text));
  const auto profile = std::make_shared<const Profile>(learn_profile(session, std::make_shared<Records>(2000), learn, silence()).profile);
  const auto test = std::make_shared<Records>(10000);
  const ValueId output = graph.outputs()[0];
  Least forward, covered, figures;
  std::map<std::string, Least> alone;
  for (int round = 0; round < 5; ++round) {  // in turn, so that a slow spell of the machine meets all
    forward.turn([&] { walk(session, test, {}, silence(), [&](const Batch&, const Tensors& given) { session.run(given, std::span(&output, 1)); }); });
    CoverageState state(profile, learn.criteria, false);
    covered.turn([&] { measure(session, state, test, {}, silence()); });
    figures.turn([&] { state.figures(); });
    for (const Spec& spec : learn.criteria) {
      if (!each) break;
      CoverageState one(profile, {spec}, false);
      alone[spec.text()].turn([&] { measure(session, one, test, {}, silence()); });
    }
  }
  const auto line = [&](const std::string& name, const Least& least) {
    fmt::print("  {:12} {:.3f} s, ratio {:.2f}; processor {:.3f} s, ratio {:.2f}\n", name, least.seconds, least.seconds / forward.seconds, least.processor,
               least.processor / forward.processor);
  };
  fmt::print("LeNet-5, 10000 records, {} criteria\n", learn.criteria.size());
  line("forward", forward);
  line("all criteria", covered);
  line("figures", figures);
  for (const auto& [name, least] : alone) line(name, least);

  // Ten thousand neurons with a thousand sections each.
  Profile wide;
  const std::vector<float> low(10000, 0.0F), high(10000, 1.0F);
  std::vector<std::uint32_t> own(10000);
  for (std::uint32_t i = 0; i < own.size(); ++i) own[i] = i;
  wide.statistics.push_back({"wide", "Gemm", low, high, std::vector<double>(10000), std::vector<double>(10000), own});
  const auto a = make_criterion(wide, parse_spec("criterion", "kmnc")), b = make_criterion(wide, parse_spec("criterion", "kmnc"));
  double merge = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 20; ++round) merge = std::min(merge, seconds([&] { a->merge(*b); }));
  const std::size_t bytes = a->save()[0].get_binary().size();
  fmt::print("10 million sections: {} bytes, {:.3f} bytes a section, merged in {:.2f} ms ({:.1f} GB/s)\n", bytes, static_cast<double>(bytes) / 1e7, merge * 1e3,
             3 * static_cast<double>(bytes) / merge / 1e9);
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(assay::available_threads());
  assay::set_engine_threads(threads);
  assay::keep_freed_memory();
  fmt::print("{} threads\n", threads);
  assay::bench::run(threads, argc <= 2);
}
