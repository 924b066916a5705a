// Special tokens around texts as BERT and RoBERTa have them, and offsets without white space.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "assay/text/encodings.h"
#include "assay/text/post_processors/catalogue.h"

namespace assay::text {
namespace {

// ["[CLS]", 101]
SpecialToken special_token(const Settings& settings, const std::string& key) {
  const auto it = settings.value().find(key);
  if (it == settings.value().end() || !it->is_array() || it->size() != 2 || !(*it)[0].is_string())
    settings.refuse("'{}' is not a token and its number", key);
  return {whole_number((*it)[1], fmt::format("{}: the number of '{}'", settings.where(), key)),
          (*it)[0].get<std::string>()};
}

class BertProcessing final : public PostProcessor {
 public:
  explicit BertProcessing(const Settings& settings)
      : end_(special_token(settings, "sep")), begin_(special_token(settings, "cls")) {}

  std::size_t added(bool pair) const override { return pair ? 3 : 2; }
  void process(std::vector<Encoding>& encodings, bool special) const override {
    if (!special) return;
    for (std::size_t i = 0; i < encodings.size(); ++i) {
      Encoding around;
      if (i == 0) append_special(around, begin_, 0);
      append(around, encodings[i]);
      append_special(around, end_, i == 0 ? 0 : 1);
      encodings[i] = std::move(around);
    }
  }

 private:
  SpecialToken end_, begin_;
};

class RobertaProcessing final : public PostProcessor {
 public:
  explicit RobertaProcessing(const Settings& settings)
      : end_(special_token(settings, "sep")),
        begin_(special_token(settings, "cls")),
        trim_(settings.flag("trim_offsets")),
        blank_(settings.flag("add_prefix_space")) {}

  std::size_t added(bool pair) const override { return pair ? 4 : 2; }
  void process(std::vector<Encoding>& encodings, bool special) const override {
    for (Encoding& encoding : encodings) {
      if (trim_) trim_offsets(encoding, blank_);
      std::ranges::fill(encoding.types, 0);
    }
    if (!special) return;
    for (std::size_t i = 0; i < encodings.size(); ++i) {
      Encoding around;
      append_special(around, i == 0 ? begin_ : end_, 0);
      append(around, encodings[i]);
      append_special(around, end_, 0);
      encodings[i] = std::move(around);
    }
  }

 private:
  SpecialToken end_, begin_;
  bool trim_, blank_;
};

class ByteLevelProcessing final : public PostProcessor {
 public:
  explicit ByteLevelProcessing(const Settings& settings)
      : trim_(settings.flag("trim_offsets")), blank_(settings.flag("add_prefix_space")) {}
  std::size_t added(bool) const override { return 0; }
  void process(std::vector<Encoding>& encodings, bool) const override {
    if (!trim_) return;
    for (Encoding& encoding : encodings) trim_offsets(encoding, blank_);
  }

 private:
  bool trim_, blank_;
};

class PostProcessorSequence final : public PostProcessor {
 public:
  explicit PostProcessorSequence(const Settings& settings) {
    for (const Settings& part : settings.parts("processors"))
      parts_.push_back(make_part(post_processors(), part));
  }
  std::size_t added(bool pair) const override {
    std::size_t all = 0;
    for (const auto& part : parts_) all += part->added(pair);
    return all;
  }
  void process(std::vector<Encoding>& encodings, bool special) const override {
    for (const auto& part : parts_) part->process(encodings, special);
  }

 private:
  std::vector<std::unique_ptr<const PostProcessor>> parts_;
};

}  // namespace

PartInfo<PostProcessor> bert_processing() {
  return part_info<PostProcessor, BertProcessing>("BertProcessing", "[CLS] A [SEP] B [SEP]");
}
PartInfo<PostProcessor> roberta_processing() {
  return part_info<PostProcessor, RobertaProcessing>("RobertaProcessing", "<s> A </s> </s> B </s>");
}
PartInfo<PostProcessor> byte_level_processing() {
  return part_info<PostProcessor, ByteLevelProcessing>("ByteLevel", "offsets without white space");
}
PartInfo<PostProcessor> post_processor_sequence() {
  return part_info<PostProcessor, PostProcessorSequence>("Sequence", "post-processors one after the other");
}

}  // namespace assay::text
