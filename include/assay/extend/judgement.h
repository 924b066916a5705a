#pragma once

// Records as tasks judge them: decisions about items, sums over records, figures that follow from them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay::task {

// Items of a class, or spans of items: those decided correctly, decided at all, and there in truth.
struct Counts {
  std::uint64_t matched = 0, decided = 0, wanted = 0;
  Counts& operator+=(const Counts& other);
};

// Sums over records, of which every figure is made.
struct Sums {
  std::uint64_t records = 0, whole = 0;  // records with items that count, and those all of whose are right
  std::uint64_t items = 0, right = 0;    // items that count
  double surprise = 0;                   // sum of -ln of the probability of the true class
  std::vector<Counts> classes = {};      // by class
  Counts spans = {};                     // entities, of tags
  std::vector<double> amounts = {};      // what else a task sums up, in an order of its own
  Sums& operator+=(const Sums& other);
};

// A number that a task reports. Its name is that of gates: "mean-iou".
struct Figure {
  std::string name;
  std::optional<std::int64_t> of_class = {};  // absent: of all
  double value = 0;
  bool higher_is_better = true;
  bool is_share = true;                                    // shown in per cent
  std::optional<std::pair<double, double>> interval = {};  // 95 %, over records
};

// One record as a task judges it.
struct JudgedRecord {
  std::span<const float> output;   // in the order of the network's output
  std::span<const float> targets;  // in the order of the data
  // The outputs after the first one, of tasks that read several (Task::outputs()).
  std::vector<std::span<const float>> others = {};
};

// Items of a record: of what class each is, and what else tells one from another.
struct Items {
  std::vector<std::int64_t> classes = {};  // no_class (-1) where an item does not count
  // As many numbers for each item: the corners of a box, a character, a target. Empty: an item is known by
  // its position, which is the same in every output.
  std::vector<float> places = {};

  std::span<const float> place(std::size_t item) const {
    const std::size_t width = classes.empty() ? 0 : places.size() / classes.size();
    return std::span(places).subspan(item * width, width);
  }
};

// What is drawn over a record of what its items are.
struct Marks {
  struct Frame {
    float left = 0, top = 0, right = 0, bottom = 0;  // in pixels of the record
    std::int64_t of_class = 0;
  };
  std::vector<Frame> frames = {};
  // The class of each cell of a grid over the whole picture, row by row; no_class (-1) leaves it as it is.
  std::vector<std::int64_t> cells = {};
  std::int64_t rows = 0, columns = 0;
};

// Where items lie: in cells of a grid over the whole record.
struct Positions {
  std::vector<std::int64_t> grid = {};   // cells along each axis; empty: items have no position
  std::vector<std::int64_t> cells = {};  // of each item, row by row; no_class (-1): it is nowhere
};

// What was decided of a record's items, [items] each. A class that is `no_class` (-1) is wanted where an item
// does not count, and decided where a score is NaN.
struct Judgement {
  std::vector<std::int64_t> decided = {}, wanted = {};
  std::vector<float> places = {};  // Items::places
  std::vector<float> kept = {};    // what figures over all records need of it (Task::overall())
  Sums sums = {};                  // of this record
};

// Figures that follow from no sums but from all records together, as average precision, which ranks items of
// all of them.
class Overall {
 public:
  virtual ~Overall() = default;
  // All figures of the task, in the order in which they are reported. `times`: how often each record counts,
  // in the order of the data; `sums`: those of the records, counted as often. Called by several threads.
  virtual std::vector<Figure> figures(const Sums& sums, std::span<const std::uint32_t> times) const = 0;
  // Of tasks that decide of a record by the others: its items. Nothing where Task::judge() has decided.
  virtual std::optional<Judgement> judgement(std::size_t) const { return std::nullopt; }
};

}  // namespace assay::task
