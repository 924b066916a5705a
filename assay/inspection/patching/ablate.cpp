#include <algorithm>
#include <cmath>
#include <numeric>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/inspection/patching/patched_values.h"

namespace assay::inspection {
namespace {

constexpr std::uint64_t ablation_stream = 0x6162'6c61'7465;

// How far a class is ahead of the next; of one score how far from the threshold, on its side.
double lead_of(const ScoreRows& scores, std::size_t record, std::size_t decided) {
  const auto row = scores.of(record);
  if (row.size() == 1) return (decided == 1 ? 1 : -1) * (row[0] - scores.threshold());
  float next = -INFINITY;
  for (std::size_t c = 0; c < row.size(); ++c)
    if (c != decided) next = std::max(next, row[c]);
  return static_cast<double>(row[decided]) - next;
}

// Numbers that are taken out of what an attention gives, [heads, size]: 1.
using Chosen = Array;

Chosen one_head(std::int64_t heads, std::int64_t size, std::int64_t head) {
  Array chosen = Array::zeros(DType::float32, {heads, size});
  chosen.narrow(0, head, 1).fill_(1.0F);
  return chosen;
}

Chosen as_many_at_random(std::int64_t heads, std::int64_t size, Rng& rng) {
  std::vector<float> chosen(heads * size);
  for (const std::size_t at : rng.sample(chosen.size(), size)) chosen[at] = 1;
  return Array::of<float>({heads, size}, chosen);
}

// What is taken out of one attention, with its sums over records.
struct Removal {
  Chosen chosen;
  Ratio ratio = {};
  std::size_t turned = 0;
};

struct AttentionRemovals {
  PatchedValue value;
  Array instead;  // [heads, positions, size]; undefined: 0
  std::vector<Removal> heads, controls;
};

class Ablator {
 public:
  Ablator(const Session& session, const AblationOptions& options) : session_(session) {
    std::uint64_t number = 0;
    for (PatchedValue& value : required_heads(session)) {
      const std::int64_t size = session.shape(value.value)[3];
      AttentionRemovals removals{.value = value, .instead = {}, .heads = {}, .controls = {}};
      for (std::int64_t head = 0; head < value.heads; ++head)
        removals.heads.push_back({one_head(value.heads, size, head)});
      Rng rng(options.seed, {ablation_stream, number++});
      for (std::size_t c = 0; c < options.controls; ++c)
        removals.controls.push_back({as_many_at_random(value.heads, size, rng)});
      all_.push_back(std::move(removals));
    }
  }

  std::size_t runs() const {
    std::size_t count = 0;
    for (const AttentionRemovals& one : all_) count += one.heads.size() + one.controls.size();
    return count;
  }

  // What heads give on average, at each position, in records that count: one with NaN would make all means
  // so.
  void learn_means(const DatasetPtr& data, std::size_t step) {
    std::vector<ValueId> wanted{session_.logits()};
    for (const AttentionRemovals& one : all_) wanted.push_back(one.value.value);
    std::vector<Array> sums(all_.size());
    std::size_t counted = 0;
    BatchReader reader(data, step);
    while (const auto batch = reader.next()) {
      const Tensors values = session_.run(session_.bind(*batch), wanted);
      const ScoreRows scores(session_, values);
      std::vector<std::int64_t> finite;
      for (std::size_t r = 0; r < batch->indices.size(); ++r)
        if (scores.finite(r)) finite.push_back(r);
      if (finite.empty()) continue;
      counted += finite.size();
      const Array rows = Array::of<std::int64_t>({std::ssize(finite)}, finite);
      for (std::size_t i = 0; i < all_.size(); ++i) {
        const Array sum = values.at(all_[i].value.value).index_select(0, rows).to(DType::float64).sum({0});
        sums[i] = sums[i].defined() ? sums[i] + sum : sum;
      }
    }
    if (counted == 0) return;  // result() says so
    for (std::size_t i = 0; i < all_.size(); ++i)
      all_[i].instead = (sums[i] / Scalar(static_cast<double>(counted))).to(DType::float32).contiguous();
  }

  void take(const Tensors& given, std::size_t records, Stage& stage) {
    const std::vector<ValueId> logits{session_.logits()};
    const ScoreRows intact(session_, session_.run(given, logits));
    for (std::size_t r = 0; r < records; ++r)
      if (intact.finite(r)) whole_.add(1, lead_of(intact, r, intact.decided(r)));
    for (AttentionRemovals& one : all_) {
      const std::vector<ValueId> wanted{one.value.value};
      const Array gives = session_.run(given, wanted).at(one.value.value);
      const auto remove = [&](Removal& removal) {
        Tensors with = given;
        with.insert_or_assign(one.value.value, without(gives, removal.chosen, one.instead));
        add(removal, ScoreRows(session_, session_.run(with, logits)), intact, records);
        stage.advance(records);
      };
      std::ranges::for_each(one.heads, remove);
      std::ranges::for_each(one.controls, remove);
    }
  }

  Ablation result(std::size_t records) const {
    if (whole_.count() == 0) fail(Fault::data, "none of {} records has finite scores", records);
    Ablation found{
        .records = records, .counted = whole_.count(), .lead = whole_.mean_denominator(), .heads = {}};
    for (const AttentionRemovals& one : all_) {
      for (std::size_t head = 0; head < one.heads.size(); ++head) found.heads.push_back(compared(one, head));
    }
    return found;
  }

 private:
  // [records, heads, positions, size], of which some numbers are others.
  static Array without(const Array& gives, const Chosen& chosen, const Array& instead) {
    const Array out = chosen.unsqueeze(1).to(DType::boolean);  // [heads, 1, size]
    const Array other = instead.defined() ? instead : Array::zeros(DType::float32, {1});
    return array::where(out, other, gives).contiguous();
  }

  static void add(Removal& removal, const ScoreRows& ablated, const ScoreRows& intact, std::size_t records) {
    for (std::size_t r = 0; r < records; ++r) {
      if (!intact.finite(r)) continue;
      const std::size_t decided = intact.decided(r);
      const double lead = lead_of(intact, r, decided);
      removal.ratio.add(lead - lead_of(ablated, r, decided), lead);
      removal.turned += ablated.decided(r) != decided;
    }
  }

  static AblatedHead compared(const AttentionRemovals& one, std::size_t head) {
    const Removal& removal = one.heads[head];
    const PatchSite site{.layer = one.value.layer, .head = static_cast<std::int64_t>(head)};
    AblatedHead found{.effect = effect_of(site, removal.ratio, removal.turned)};
    std::size_t as_strong = 1;
    double sum = 0;
    for (const Removal& control : one.controls) {
      sum += control.ratio.share();
      as_strong += control.ratio.share() >= found.effect.share;
    }
    const double controls = one.controls.size();
    found.control = one.controls.empty() ? 0 : sum / controls;
    found.p = as_strong / (1 + controls);
    return found;
  }

  const Session& session_;
  std::vector<AttentionRemovals> all_;
  Ratio whole_;
};

}  // namespace

std::vector<PatchSite> ablation_sites(const Session& session) {
  std::vector<PatchSite> all;
  for (const PatchedValue& value : required_heads(session))
    for (std::int64_t head = 0; head < value.heads; ++head)
      all.push_back({.layer = value.layer, .head = head});
  return all;
}

Ablation ablate(const Session& session, const DatasetPtr& data, const AblationOptions& options,
                Progress& progress) {
  require_scores(session, *data);
  Ablator ablator(session, options);
  const std::size_t step = options.batch > 0 ? options.batch : session.preferred_batch();
  if (options.mean) ablator.learn_means(data, step);
  Stage stage(progress, "taking heads out", data->size() * ablator.runs(), "runs");
  BatchReader reader(data, step);
  while (const auto batch = reader.next()) ablator.take(session.bind(*batch), batch->indices.size(), stage);
  return ablator.result(data->size());
}

}  // namespace assay::inspection
