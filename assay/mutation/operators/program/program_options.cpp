#include "assay/mutation/operators/program/program_options.h"

#include <fmt/format.h>

#include <algorithm>

#include <assay/error.h>
#include "assay/support/text/text.h"

namespace assay::mutation {

SpecOption to_option(const std::string& what) { return {"to", "any", what + ", or any: by the seed"}; }

void check_word(const SpecOptions& options, const std::vector<std::string>& all) {
  const std::string& word = options.text("to");
  if (word == "any" || std::ranges::count(all, word) > 0) return;
  fail(Fault::usage, "there is no '{}'{}; give any, or one of {}", word, did_you_mean(word, all),
       joined(all));
}

std::string chosen_word(const ProgramSite& site, const std::vector<std::string>& all,
                        const std::vector<std::string>& values) {
  check_word(site.options, all);
  const std::string& word = site.options.text("to");
  return word == "any" && !values.empty() ? values[site.rng.below(values.size())] : word;
}

std::vector<std::string> without(std::vector<std::string> all, const std::string& word) {
  std::erase(all, word);
  return all;
}

std::vector<Place> or_nowhere(std::vector<Place> places, const std::string& refusal) {
  if (places.empty()) places.push_back({"network", refusal});
  return places;
}

ProgramFault recipe_fault(
    std::function<std::string(const Program& program, const SpecOptions& options)> refusal,
    std::function<std::string(const ProgramSite& site, Program& program)> change) {
  return {.places = [refusal = std::move(refusal)](
                        const Program& program, const Subject&,
                        const SpecOptions& options) { return recipe_place(refusal(program, options)); },
          .apply =
              [change = std::move(change)](const ProgramSite& site, Program& program) {
                std::string what = change(site, program);
                const bool changed = !what.empty();
                return ProgramChange{changed, changed ? std::move(what) : "nothing changes"};
              }};
}

ProgramFault word_fault(WordFault fault) {
  const auto values = [fault](const Program& program) {
    std::vector<std::string> words = without(fault.all(), fault.now(program));
    if (fault.fits) std::erase_if(words, [&](const std::string& word) { return !fault.fits(program, word); });
    return words;
  };
  ProgramFault made = recipe_fault(
      [fault, values](const Program& program, const SpecOptions& options) -> std::string {
        check_word(options, fault.all());
        const std::vector<std::string> words = values(program);
        if (words.empty()) return fault.refusal;
        const std::string& to = options.text("to");
        if (to == "any" || std::ranges::count(words, to) > 0) return {};
        return to == fault.now(program) ? fmt::format("the recipe has {} already", to)
                                        : fmt::format("{} does not fit the training data", to);
      },
      [fault, values](const ProgramSite& site, Program& program) {
        const std::string before = fault.now(program), word = chosen_word(site, fault.all(), values(program));
        fault.put(program, word);
        return fmt::format("{} instead of {}", word, before);
      });
  made.option = "to";
  made.values = [values](const Program& program, const Subject&, const std::string&) {
    return values(program);
  };
  return made;
}

}  // namespace assay::mutation
