// TfIdfVectorizer: how often sequences of numbers of words, with gaps between them, occur.

#include <algorithm>
#include <map>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

// Sequences that are counted, each with where its count goes and what weighs it.
class Grams {
 public:
  explicit Grams(const Node& node) {
    const Ints pool = node.integers("pool_int64s", {}), begins = node.integers("ngram_counts", {}),
               columns = node.integers("ngram_indexes", {});
    const std::vector<float> weights = node.reals("weights", {});
    if (node.has("pool_strings")) fail(Fault::unsupported, "words are strings; give networks their numbers");
    if (columns.empty() || (!weights.empty() && weights.size() != columns.size()))
      fail(Fault::model, "there are {} columns and {} weights", columns.size(), weights.size());
    constexpr std::int64_t widest = std::int64_t{1} << 30;
    for (const std::int64_t column : columns) require_in("a column", column, 0, widest);
    width_ = std::ranges::max(columns) + 1;
    std::size_t gram = 0;
    for (std::size_t length = 1; length <= begins.size(); ++length) {
      const std::int64_t end = length < begins.size() ? begins[length] : std::ssize(pool);
      require_in("the end of sequences of one length", end, 0, std::ssize(pool));
      require_in("the begin of sequences of one length", begins[length - 1], 0, end);
      const std::int64_t size = length;
      for (std::int64_t at = begins[length - 1]; at + size <= end; at += size, ++gram) {
        if (gram == columns.size()) fail(Fault::model, "more sequences than {} columns", columns.size());
        known_[Ints(pool.begin() + at, pool.begin() + at + size)] = {columns[gram],
                                                                     weights.empty() ? 1.0F : weights[gram]};
      }
    }
  }

  struct Place {
    std::int64_t column = 0;
    float weight = 1;
  };
  const Place* find(const Ints& sequence) const {
    const auto found = known_.find(sequence);
    return found == known_.end() ? nullptr : &found->second;
  }
  std::int64_t width() const { return width_; }

 private:
  std::map<Ints, Place> known_;
  std::int64_t width_ = 0;
};

struct GramLengths {
  std::int64_t least, most, gaps;
};

// Calls visit(sequence) for all of these lengths, with every gap; single words have none.
template <typename Visit>
void each_sequence(std::span<const std::int64_t> words, const GramLengths& lengths, Visit visit) {
  const std::int64_t count = std::ssize(words);
  for (std::int64_t length = lengths.least; length <= lengths.most; ++length) {
    for (std::int64_t stride = 1; stride <= (length == 1 ? 1 : lengths.gaps + 1); ++stride) {
      if ((length - 1) * stride >= count) break;
      for (std::int64_t at = 0; at + (length - 1) * stride < count; ++at) {
        Ints sequence;
        for (std::int64_t i = 0; i < length; ++i) sequence.push_back(words[at + i * stride]);
        visit(sequence);
      }
    }
  }
}

}  // namespace

// O(words * lengths * gaps * log sequences).
Outputs tf_idf_vectorizer(const Call& call) {
  const Array& given = call.input(0);
  if (!is_integral(given) || given.rank() < 1 || given.rank() > 2)
    fail(Fault::model, "numbers of words are needed, of one record or a row for each");
  const std::string mode = call.node.text("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    fail(Fault::model, "mode '{}' is not TF, IDF or TFIDF", mode);
  constexpr std::int64_t most = 1 << 20;
  const GramLengths lengths{call.node.integer("min_gram_length", 1), call.node.integer("max_gram_length", 1),
                            call.node.integer("max_skip_count", 0)};
  require_in("min_gram_length", lengths.least, 1, most);
  require_in("max_gram_length", lengths.most, lengths.least, most);
  require_in("max_skip_count", lengths.gaps, 0, most);
  const Grams grams(call.node);
  const Array words = (given.rank() == 1 ? given.unsqueeze(0) : given).to(DType::int64).contiguous();
  check_size({words.size(0), grams.width()}, sizeof(float));
  Array counts = array::zeros({words.size(0), grams.width()}, DType::float32);
  for (std::int64_t r = 0; r < words.size(0); ++r) {
    const std::size_t length = words.size(1);
    const std::span row(words.elements<std::int64_t>() + r * words.size(1), length);
    float* const to = counts.elements<float>() + r * grams.width();
    each_sequence(row, lengths, [&](const Ints& sequence) {
      const Grams::Place* const place = grams.find(sequence);
      if (place == nullptr) return;
      float& count = to[place->column];
      if (mode == "IDF")
        count = place->weight;
      else
        count += mode == "TF" ? 1 : place->weight;
    });
  }
  return {given.rank() == 1 ? counts.squeeze(0) : counts};
}

}  // namespace assay::operators
