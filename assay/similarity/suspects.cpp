#include "assay/similarity/suspects.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/data/files/records_file.h"
#include "assay/data/portions.h"
#include "assay/data/summary.h"
#include "assay/support/threads.h"

namespace assay::similarity {
namespace {

constexpr std::size_t most_bytes = std::size_t{2} << 30;  // of findings made ready
constexpr std::size_t similarities_at_once = std::size_t{1} << 22;

// More similar first, then the earlier record.
bool before(const Match& a, const Match& b) {
  return std::tuple(-a.similarity, a.record) < std::tuple(-b.similarity, b.record);
}

class Search {
 public:
  Search(const DatasetPtr& findings, const DatasetPtr& training, const SuspectOptions& options)
      : training_(training),
        options_(options),
        ssim_(training->record_shape(), range_of(*training), options.ssim) {
    if (findings->record_shape() != training->record_shape()) {
      fail(Fault::mismatch, "findings are {}, training records {}", to_string(findings->record_shape()),
           to_string(training->record_shape()));
    }
    if (ssim_.picture_bytes() > most_bytes / findings->size()) {
      fail(Fault::resources, "{} findings of shape {} are too many to compare at once; take a slice of them",
           findings->size(), to_string(findings->record_shape()));
    }
    read(findings);
    result_.nearest.resize(pictures_.size());
    result_.suspects.resize(training->size());
  }

  Suspicion run(Progress& progress) {
    const std::size_t batch =
        std::clamp<std::size_t>(similarities_at_once / pictures_.size(), Ssim::lanes, 1024) / Ssim::lanes *
        Ssim::lanes;
    BatchReader reader(training_, records_at_once(*training_, batch));
    Stage stage(progress, "comparing", training_->size(), "records");
    while (const auto records = reader.next()) {
      compare(*records);
      stage.advance(records->indices.size());
    }
    for (std::size_t f = 0; f < pictures_.size(); ++f) {
      std::ranges::sort(result_.nearest[f], before);
      for (const Match& match : result_.nearest[f]) ++result_.suspects[match.record].votes;
    }
    return std::move(result_);
  }

 private:
  static ValidRange range_of(const Dataset& training) {
    const auto range = training.valid_range();
    if (!range)
      fail(Fault::usage, "{}: the valid range is not known; add range=LOW:HIGH, such as range=0:1",
           training.describe());
    return *range;
  }

  void read(const DatasetPtr& findings) {
    BatchReader reader(findings, records_at_once(*findings, 256));
    while (const auto batch = reader.next()) {
      const auto values = batch->inputs.as<float>();
      for (std::size_t i = 0; i < batch->indices.size(); ++i)
        pictures_.push_back(ssim_.picture(values.subspan(i * ssim_.elements(), ssim_.elements())));
    }
  }

  // All findings with the records of one batch.
  void compare(const Batch& records) {
    const auto values = records.inputs.as<float>();
    const std::size_t count = records.indices.size(), groups = (count + Ssim::lanes - 1) / Ssim::lanes;
    similarities_.resize(pictures_.size() * count);
    parallel_for(groups, options_.threads == 0 ? available_threads() : options_.threads, [&](std::size_t g) {
      const std::size_t begin = g * Ssim::lanes, size = std::min(Ssim::lanes, count - begin);
      const Ssim::Group group =
          ssim_.group(values.subspan(begin * ssim_.elements(), size * ssim_.elements()));
      for (std::size_t f = 0; f < pictures_.size(); ++f)
        ssim_.similarities(pictures_[f], group, std::span(similarities_).subspan(f * count + begin, size));
    });
    for (std::size_t f = 0; f < pictures_.size(); ++f)
      take(f, records.indices, std::span(similarities_).subspan(f * count, count));
  }

  // Similarities of one finding to consecutive records.
  void take(std::size_t finding, std::span<const std::size_t> records, std::span<const double> similarities) {
    std::vector<Match>& nearest = result_.nearest[finding];  // a heap with the least similar on top
    for (std::size_t i = 0; i < records.size(); ++i) {
      Suspect& suspect = result_.suspects[records[i]];
      if (finding == 0 || similarities[i] > suspect.similarity) {
        suspect.similarity = similarities[i];
        suspect.finding = finding;
      }
      suspect.record = records[i];
      suspect.mean += similarities[i] / pictures_.size();
      const Match match{records[i], similarities[i]};
      if (nearest.size() < options_.nearest) {
        nearest.push_back(match);
        std::ranges::push_heap(nearest, before);
      } else if (!nearest.empty() && before(match, nearest.front())) {
        std::ranges::pop_heap(nearest, before);
        nearest.back() = match;
        std::ranges::push_heap(nearest, before);
      }
    }
  }

  DatasetPtr training_;
  SuspectOptions options_;
  Ssim ssim_;
  std::vector<Ssim::Picture> pictures_;
  std::vector<double> similarities_;  // of one batch, [finding][record]
  Suspicion result_;
};

}  // namespace

Suspicion find_suspects(const DatasetPtr& findings, const DatasetPtr& training, const SuspectOptions& options,
                        Progress& progress) {
  return Search(findings, training, options).run(progress);
}

std::vector<std::size_t> rank(const std::vector<Suspect>& suspects, const std::string& by) {
  std::vector<std::size_t> order(suspects.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const Suspect& s = suspects[i];
    if (by == "votes") return std::tuple(-static_cast<double>(s.votes), -s.similarity, i);
    return std::tuple(by == "mean" ? -s.mean : -s.similarity, 0.0, i);
  };
  if (by != "votes" && by != "mean" && by != "similarity")
    fail(Fault::usage, "suspects are ranked by similarity, mean or votes, not by '{}'", by);
  std::ranges::sort(order, {}, key);
  return order;
}

std::set<std::string> polluted_ids(const Dataset& training, const std::string& truth) {
  std::set<std::string> ids;
  if (truth.ends_with(".txt")) {
    const std::vector<std::string> lines = id_lines(truth);
    ids = {lines.begin(), lines.end()};
    for (std::size_t i = 0; i < training.size(); ++i) {
      const std::string id = training.id(i), line = id_line(id);
      if (line != id && ids.erase(line) != 0) ids.insert(id);
    }
  } else {
    for (const std::size_t i : other_labels(training, *open_dataset(truth))) ids.insert(training.id(i));
  }
  if (ids.empty()) fail(Fault::data, "{} {}: no record is polluted", About{"of the truth", "{truth}"}, truth);
  return ids;
}

}  // namespace assay::similarity
