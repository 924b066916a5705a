#pragma once

// Common parts of operators of the levels structure and recipe.

#include <functional>
#include <string>
#include <vector>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {

// The option `to` of operators that put one of several words instead of another: a word, or "any".
SpecOption to_option(const std::string& what);

// The word to put: the one that `to` names, or one of `values` by the seed. Throws Error{usage} for a word
// that is none of `all`.
std::string chosen_word(const ProgramSite& site, const std::vector<std::string>& all,
                        const std::vector<std::string>& values);
// The same check without a site.
void check_word(const SpecOptions& options, const std::vector<std::string>& all);

// `all` without `word`.
std::vector<std::string> without(std::vector<std::string> all, const std::string& word);

// Structure level: the same refusal for a whole network that has no place at all.
std::vector<Place> or_nowhere(std::vector<Place> places, const std::string& refusal);

// Recipe level: `refusal` may be empty; `change` returns what was done, empty for nothing.
ProgramFault recipe_fault(
    std::function<std::string(const Program& program, const SpecOptions& options)> refusal,
    std::function<std::string(const ProgramSite& site, Program& program)> change);

// Recipe level, one word for another.
struct WordFault {
  std::vector<std::string> (*all)();
  std::string (*now)(const Program& program);
  // Words that do not fit the program are left out of what can be chosen; null: all fit.
  bool (*fits)(const Program& program, const std::string& word);
  void (*put)(Program& program, const std::string& word);
  std::string refusal = {};  // where nothing can be chosen
};
ProgramFault word_fault(WordFault fault);

}  // namespace assay::mutation
