// Greedy choice of covering records among a million with sparse rows: popular and rare items, as sections of
// neurons have them. Usage: bench_selection [records [items [items per record]]]

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <assay/extend/random.h>
#include <assay/selection.h>

namespace assay::bench {
namespace {

template <typename Work>
void timed(const char* name, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::size_t chosen = work();
  fmt::print("{:12} {:6.2f} s, {} records chosen\n", name,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), chosen);
  std::fflush(stdout);
}

selection::CoveredRows make(std::size_t records, std::size_t items, std::size_t each) {
  selection::CoveredRows rows;
  Rng rng(1);
  std::vector<std::uint32_t> row(each);
  for (std::size_t r = 0; r < records; ++r) {
    for (std::uint32_t& item : row)
      item = static_cast<std::uint32_t>(static_cast<double>(items) * std::pow(rng.uniform(), 4));
    rows.add(row);
  }
  return rows;
}

void run(std::size_t records, std::size_t items, std::size_t each) {
  const selection::CoveredRows rows = make(records, items, each);
  fmt::print("{} records, {} items, {} a record\n", records, items, each);
  timed("minimise", [&] { return selection::minimise(rows).records.size(); });
  timed("budget 1000", [&] { return selection::budgeted(rows, 1000).records.size(); });
  timed("additional", [&] { return selection::order_additional(rows).size(); });
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const auto argument = [&](int i, std::size_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  assay::bench::run(argument(1, 1'000'000), argument(2, 10'000), argument(3, 20));
}
