#include "assay/data/tokenized.h"

#include <algorithm>
#include <utility>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/support/memory.h"
#include "assay/support/threads.h"

namespace assay::inline data {
namespace {

constexpr std::int64_t most_tokens_a_record = 1 << 20;
constexpr float not_counted = -100;  // label of tokens that do not count, as the task `tokens` has it

// One row a record, all of the same length.
struct TokenRows {
  std::size_t length = 0;
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> types, attention;
};

class TokenRowsMaker {
 public:
  TokenRowsMaker(const std::vector<RecordText>& texts, bool pairs, const DataSpec& spec)
      : texts_(texts),
        pairs_(pairs),
        path_(spec.path),
        tokenizer_(std::filesystem::path(spec.text("tokenizer"))) {
    if (!spec.has("length")) return;
    const std::int64_t length = spec.integer("length", 0);
    if (length < 1 || length > most_tokens_a_record)
      fail(Fault::usage, "data option length={}: 1 to {} tokens", length, most_tokens_a_record);
    length_ = length;
  }

  const text::Tokenizer& tokenizer() const { return tokenizer_; }

  TokenRows run() {
    if (length_ == 0) length_ = longest();
    TokenRows rows{.length = length_, .ids = {}, .types = {}, .attention = {}};
    const std::size_t all = length_ * texts_.size();
    require_memory(all * (sizeof(std::int32_t) + 2), path_);
    rows.ids.resize(all);
    rows.types.resize(all);
    rows.attention.resize(all);
    parallel_for(texts_.size(), available_threads(), [&](std::size_t record) { fill(record, rows); });
    return rows;
  }

 private:
  // Tokens of the longest text, without those that only fill up.
  std::size_t longest() const {
    std::vector<std::size_t> lengths(texts_.size());
    parallel_for(texts_.size(), available_threads(), [&](std::size_t record) {
      lengths[record] = std::ranges::count(encoded(record, {}).attention, 1);
    });
    return std::max<std::size_t>(1, *std::ranges::max_element(lengths));
  }

  text::Encoding encoded(std::size_t record, const text::TokenizerOptions& options) const {
    check_interrupt();
    const RecordText& given = texts_[record];
    try {
      return pairs_ ? tokenizer_.encode(given.text, given.second, options)
                    : tokenizer_.encode(given.text, options);
    } catch (const Error& error) {
      fail(error.fault(), "{}: record {}: {}", path_, record, error.message());
    }
  }

  void fill(std::size_t record, TokenRows& rows) const {
    const text::Encoding encoding = encoded(record, {.length = length_});
    const std::ptrdiff_t at = record * length_;
    std::ranges::copy(encoding.ids, rows.ids.begin() + at);
    std::ranges::copy(encoding.types, rows.types.begin() + at);
    std::ranges::copy(encoding.attention, rows.attention.begin() + at);
  }

  const std::vector<RecordText>& texts_;
  bool pairs_;
  std::string path_;
  text::Tokenizer tokenizer_;
  std::size_t length_ = 0;  // 0: that of the longest text
};

class TokenizedSource final : public Source, public FromTexts {
 public:
  // `next`: targets are the tokens that come next.
  TokenizedSource(std::unique_ptr<Source> rest, TokenRows rows, text::Tokenizer tokenizer, bool next)
      : rest_(std::move(rest)), rows_(std::move(rows)), tokenizer_(std::move(tokenizer)), next_(next) {}

  std::size_t size() const override { return rest_->size(); }
  Shape shape() const override { return {static_cast<std::int64_t>(rows_.length)}; }
  DType dtype() const override { return DType::int64; }
  std::string id(std::size_t index) const override { return rest_->id(index); }
  std::optional<std::int64_t> label(std::size_t index) const override { return rest_->label(index); }
  std::vector<std::string> class_names() const override { return rest_->class_names(); }
  std::vector<float> target(std::size_t index) const override {
    return next_ ? next_tokens(index) : rest_->target(index);
  }
  std::optional<std::vector<std::string>> column(const std::string& name) const override {
    return rest_->column(name);
  }
  std::vector<std::string> columns() const override { return rest_->columns(); }
  bool others_are_optional() const override { return true; }
  void read(std::size_t index, void* out) const override { copy(rows_.ids, index, out); }
  std::string input_name() const override { return "input_ids"; }
  std::vector<InputFacts> others() const override {
    return {{"attention_mask", shape(), DType::int64},
            {"token_type_ids", shape(), DType::int64},
            {"position_ids", shape(), DType::int64}};
  }
  void read_other(std::size_t which, std::size_t index, void* out) const override {
    if (which == 0)
      copy(rows_.attention, index, out);
    else if (which == 1)
      copy(rows_.types, index, out);
    else
      write_positions(index, static_cast<std::int64_t*>(out));
  }
  std::string format() const override { return "tokens of " + rest_->format(); }
  const text::Tokenizer* tokenizer() const override { return &tokenizer_; }

 private:
  template <typename T>
  void copy(const std::vector<T>& from, std::size_t index, void* out) const {
    const auto begin = from.begin() + index * rows_.length;
    std::copy_n(begin, rows_.length, static_cast<std::int64_t*>(out));
  }

  // Of each token the one after it, where both belong to the text.
  std::vector<float> next_tokens(std::size_t index) const {
    std::vector<float> next(rows_.length, not_counted);
    const std::size_t begin = index * rows_.length;
    for (std::size_t i = 0; i + 1 < rows_.length; ++i) {
      if (rows_.attention[begin + i] != 0 && rows_.attention[begin + i + 1] != 0)
        next[i] = static_cast<float>(rows_.ids[begin + i + 1]);
    }
    return next;
  }

  // From 0 at the first token that does not only fill up.
  void write_positions(std::size_t index, std::int64_t* out) const {
    std::int64_t position = 0;
    for (std::size_t i = 0; i < rows_.length; ++i) {
      out[i] = position;
      position += rows_.attention[index * rows_.length + i];
    }
  }

  std::unique_ptr<Source> rest_;
  TokenRows rows_;
  text::Tokenizer tokenizer_;
  bool next_;
};

// Texts alone say what comes next.
bool wants_next(const Source& rest, const DataSpec& spec) {
  const std::int64_t next = spec.integer("next", 0);
  if (next != 0 && next != 1) fail(Fault::usage, "data '{}': next={} is neither 0 nor 1", spec.path, next);
  if (next == 1 && (rest.label(0) || !rest.target(0).empty()))
    fail(Fault::usage,
         "data '{}': with next=1 the tokens that come next are the targets; leave out label= and target=",
         spec.path);
  return next == 1;
}

}  // namespace

std::unique_ptr<Source> tokenized(std::unique_ptr<Source> rest, const std::vector<RecordText>& texts,
                                  bool pairs, const DataSpec& spec) {
  const bool next = wants_next(*rest, spec);
  TokenRowsMaker maker(texts, pairs, spec);
  TokenRows rows = maker.run();
  return std::make_unique<TokenizedSource>(std::move(rest), std::move(rows), maker.tokenizer(), next);
}

const text::Tokenizer* tokenizer_of(const Dataset& data) {
  const auto* const texts = dynamic_cast<const FromTexts*>(&data);
  return texts == nullptr ? nullptr : texts->tokenizer();
}

}  // namespace assay::inline data
