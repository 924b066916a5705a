#include "assay/inspection/requested_hypotheses.h"

#include <algorithm>
#include <limits>
#include <map>

#include <assay/error.h>
#include "assay/inspection/symbols/text_records.h"
#include "assay/support/files/hash.h"
#include "assay/support/threads.h"

namespace assay::inspection {
namespace {

// Records that one thread asks for at a time.
constexpr std::size_t asked_together = 64;

std::size_t count_of(const Shape& positions) { return element_count(positions); }

}  // namespace

std::vector<AnnotatorChoice> annotator_choices(std::span<const std::string> texts) {
  std::vector<AnnotatorChoice> choices;
  for (const std::string& text : texts) {
    for (const std::string& spec : split_specs(text)) choices.push_back(annotator_choice(spec));
  }
  return choices;
}

RequestedHypotheses::RequestedHypotheses(DatasetPtr dataset, const std::vector<AnnotatorChoice>& choices,
                                         const InspectOptions& options, const SessionOptions& session,
                                         std::size_t threads)
    : dataset_(std::move(dataset)),
      options_(options),
      choices_(choices),
      session_(session),
      threads_(threads),
      cache_(options.cache, options.cache_memory) {
  if (choices.empty()) fail(Fault::usage, "which hypotheses? `assay hypotheses` explains them");
  const bool tokens = dataset_->dtype() == DType::int64 && dataset_->record_shape().size() == 1;
  if (tokens) symbols_ = dataset_->record_shape()[0];
  if (options.vocabulary && !tokens)
    fail(Fault::usage, "a vocabulary is for records of tokens, and {} has none", dataset_->describe());
  std::map<std::string, std::string> names;
  for (const AnnotatorChoice& choice : choices) {
    annotators_.push_back(make_annotator(choice, dataset_, session));
    specs_.push_back(choice.spec().text());
    const std::vector<Hypothesis>& own = annotators_.back()->hypotheses();
    for (std::size_t place = 0; place < own.size(); ++place) {
      const auto [known, fresh] = names.emplace(own[place].name, specs_.back());
      if (!fresh)
        fail(Fault::usage, "hypothesis '{}' is in both {} and {}; give one of them another name",
             own[place].name, known->second, specs_.back());
      hypotheses_.push_back(own[place]);
      owners_.push_back({annotators_.size() - 1, place});
    }
  }
  if (hypotheses_.empty()) fail(Fault::usage, "{} brings no hypothesis", specs_.front());
  // Every record is read once, so that behaviours are worth keeping for other runs only.
  const std::string records = options.cache.empty() ? "" : records_hash();
  for (std::size_t a = 0; a < size(); ++a)
    keys_.push_back(options.cache.empty() ? "" : behaviour_key(*annotators_[a], specs_[a], records));
}

std::string RequestedHypotheses::records_hash() const {
  Hasher hash;
  hash.text(dataset_->hash());
  if (options_.vocabulary) {
    for (const std::string& symbol : options_.vocabulary->symbols) hash.text(symbol);
    hash.number(options_.vocabulary->padding.value_or(-1));
  }
  return hash.hex();
}

std::string RequestedHypotheses::version() const {
  Hasher hash;
  for (std::size_t a = 0; a < size(); ++a) hash.text(specs_[a]).text(annotators_[a]->version());
  // Before, values of whole records counted as padding where the record was filled up beyond its middle.
  if (options_.vocabulary && options_.vocabulary->padding) hash.text("padding of positions");
  return hash.text(records_hash()).hex();
}

std::vector<char> RequestedHypotheses::padding(const Batch& batch) const {
  if (symbols_ == 0 || !options_.vocabulary || !options_.vocabulary->padding) return {};
  std::vector<char> flags;
  for (const std::int64_t token : batch.inputs.as<std::int64_t>())
    flags.push_back(token == *options_.vocabulary->padding ? 1 : 0);
  return flags;
}

void RequestedHypotheses::probe(const Batch& batch) {
  std::vector<RecordText> texts;
  if (options_.vocabulary) texts = texts_of(*options_.vocabulary, batch, *dataset_);
  std::size_t most = 1;
  for (std::size_t a = 0; a < size(); ++a) {
    const RecordBlock records{*dataset_, batch, texts};
    // By another one of its kind, so that this record does not count twice in what the annotator notices.
    const auto fresh = make_annotator(choices_[a], dataset_, session_);
    positions_.push_back(cache_.get_or_compute(*fresh, "", records).positions);
    check_positions(a, batch);
    most = std::max(most, count_of(positions_.back()));
  }
  unknown_.assign(most, std::numeric_limits<float>::quiet_NaN());
}

void RequestedHypotheses::check_positions(std::size_t annotator, const Batch& batch) const {
  const Shape& positions = positions_[annotator];
  const bool fits = symbols_ == 0 || positions.empty() ||
                    (positions.size() == 1 && static_cast<std::size_t>(positions[0]) == symbols_);
  if (!fits)
    fail(Fault::mismatch, "hypothesis '{}' has values of shape {} for record '{}', which has {} symbols",
         annotators_[annotator]->hypotheses()[0].name, to_string(positions), dataset_->id(batch.indices[0]),
         symbols_);
}

std::vector<float> RequestedHypotheses::ask(std::size_t annotator, const RecordBlock& records) const {
  Behaviours behaviours = cache_.get_or_compute(*annotators_[annotator], keys_[annotator], records);
  if (behaviours.positions != positions_[annotator])
    fail(Fault::mismatch, "hypothesis '{}' has values of shape {} for record '{}' and {} for others",
         annotators_[annotator]->hypotheses()[0].name, to_string(behaviours.positions),
         dataset_->id(records.batch.indices[0]), to_string(positions_[annotator]));
  return std::move(behaviours.values);
}

RequestedHypotheses::Values RequestedHypotheses::annotate(const Batch& batch,
                                                          const std::vector<char>& annotators) const {
  struct Part {
    Batch batch;
    std::vector<RecordText> texts;
  };
  const std::size_t records = batch.indices.size(), parts = (records + asked_together - 1) / asked_together;
  std::vector<Part> pieces(parts);
  parallel_for(parts, threads_, [&](std::size_t p) {
    pieces[p].batch = slice(batch, p * asked_together, std::min(records, (p + 1) * asked_together));
    if (options_.vocabulary) pieces[p].texts = texts_of(*options_.vocabulary, pieces[p].batch, *dataset_);
  });
  Values values;
  values.all_ = this;
  values.by_annotator_.resize(size());
  std::vector<std::size_t> asked;
  for (std::size_t a = 0; a < size(); ++a) {
    if (!annotators[a]) continue;
    asked.push_back(a);
    values.by_annotator_[a].resize(records * annotators_[a]->hypotheses().size() * count_of(positions_[a]));
  }
  parallel_for(asked.size() * parts, threads_, [&](std::size_t i) {
    const std::size_t a = asked[i / parts], p = i % parts;
    const std::vector<float> own = ask(a, {*dataset_, pieces[p].batch, pieces[p].texts});
    const std::size_t per_record = annotators_[a]->hypotheses().size() * count_of(positions_[a]);
    std::ranges::copy(own, values.by_annotator_[a].begin() + p * asked_together * per_record);
  });
  return values;
}

std::span<const float> RequestedHypotheses::Values::of(std::size_t record, std::size_t hypothesis) const {
  const Owner& owner = all_->owners_[hypothesis];
  const std::size_t positions = count_of(all_->positions_[owner.annotator]);
  const std::vector<float>& own = by_annotator_[owner.annotator];
  if (own.empty()) return std::span(all_->unknown_).first(positions);
  const std::size_t count = all_->annotators_[owner.annotator]->hypotheses().size();
  return std::span(own).subspan((record * count + owner.place) * positions, positions);
}

std::uint64_t RequestedHypotheses::cached() const { return cache_.hits(); }

std::vector<std::string> RequestedHypotheses::notices() const {
  std::vector<std::string> all;
  for (const auto& annotator : annotators_) {
    for (const std::string& notice : annotator->notices()) all.push_back(notice);
  }
  for (const std::string& notice : cache_.notices()) all.push_back(notice);
  return all;
}

}  // namespace assay::inspection
