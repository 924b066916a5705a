// Special tokens where a template says: one for a text, another for two.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "assay/text/encodings.h"
#include "assay/text/post_processors/catalogue.h"

namespace assay::text {
namespace {

class TemplateProcessing final : public PostProcessor {
 public:
  explicit TemplateProcessing(const Settings& settings)
      : special_(special_tokens(settings)),
        single_(elements(settings, "single", 1)),
        pair_(elements(settings, "pair", 2)) {}

  std::size_t added(bool pair) const override {
    std::size_t all = 0;
    for (const Element& element : pair ? pair_ : single_) all += element.special.size();
    return all;
  }

  void process(std::vector<Encoding>& encodings, bool special) const override {
    if (encodings.size() > 2)
      fail(Fault::unsupported,
           "a template of special tokens after another one, or after tokens of BERT, has no meaning");
    std::vector<Encoding> all;
    for (const Element& element : encodings.size() == 2 ? pair_ : single_) {
      if (!element.text && !special) continue;
      Encoding part;
      for (const SpecialToken& token : element.special) append_special(part, token, element.type);
      if (element.text) {
        part = encodings.at(*element.text);
        std::ranges::fill(part.types, element.type);
      }
      all.push_back(std::move(part));
    }
    encodings = std::move(all);
  }

 private:
  struct Element {
    std::optional<std::size_t> text = {};    // 0 or 1, the first or the second one
    std::vector<SpecialToken> special = {};  // otherwise
    std::int64_t type = 0;
  };
  using SpecialTokens = std::map<std::string, std::vector<SpecialToken>>;

  static SpecialTokens special_tokens(const Settings& settings) {
    SpecialTokens all;
    if (!settings.has("special_tokens")) return all;
    const Settings tokens = settings.part("special_tokens");
    for (const auto& [name, value] : tokens.value().items()) {
      const Settings one = tokens.part(name);
      const auto ids = value.find("ids"), texts = value.find("tokens");
      const bool sound = ids != value.end() && texts != value.end() && ids->is_array() && texts->is_array() &&
                         ids->size() == texts->size();
      if (!sound) one.refuse("'ids' and 'tokens' are not lists of the same length");
      for (std::size_t i = 0; i < ids->size(); ++i) {
        if (!(*texts)[i].is_string()) one.refuse("'tokens' holds what is not a text");
        all[name].push_back(
            {whole_number((*ids)[i], one.where() + ": a number of 'ids'"), (*texts)[i].get<std::string>()});
      }
    }
    return all;
  }

  std::vector<Element> elements(const Settings& settings, const std::string& key, std::size_t texts) const {
    std::vector<Element> all;
    for (const Settings& item : settings.parts(key)) {
      const bool is_text = item.has("Sequence");
      const Settings part = item.part(is_text ? "Sequence" : "SpecialToken");
      const std::string id = part.text("id");
      Element element{.type = part.number("type_id")};
      if (is_text) {
        if (id != "A" && id != "B") part.refuse("'{}' is neither A nor B", id);
        element.text = id == "A" ? 0U : 1U;
        if (*element.text >= texts) part.refuse("there is no second text here");
      } else {
        const auto it = special_.find(id);
        if (it == special_.end()) part.refuse("'{}' is not among 'special_tokens'", id);
        element.special = it->second;
      }
      all.push_back(std::move(element));
    }
    return all;
  }

  SpecialTokens special_;
  std::vector<Element> single_, pair_;
};

}  // namespace

PartInfo<PostProcessor> template_processing() {
  return part_info<PostProcessor, TemplateProcessing>("TemplateProcessing",
                                                      "special tokens where a template says");
}

}  // namespace assay::text
