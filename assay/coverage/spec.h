#pragma once

// How a user names a criterion: NAME[option=value,...], such as kmnc[sections=100,layer=conv1+conv2].

#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct CriterionSpec {
  std::string name;
  std::map<std::string, std::string> options;  // those given
  std::string text() const;                    // canonical: options in alphabetical order
  bool operator==(const CriterionSpec&) const = default;
};

// Throws Error{usage} naming what is wrong in the text. Names are checked by find_criterion().
CriterionSpec parse_criterion(const std::string& text);

struct CriterionOption {
  std::string name, fallback, summary;
};

// Options of one criterion with its defaults filled in.
class CriterionOptions {
 public:
  // Throws Error{usage} for an option that is not declared.
  CriterionOptions(const CriterionSpec& spec, std::span<const CriterionOption> declared);
  const std::string& text(const std::string& name) const { return values_.at(name); }
  // Throw Error{usage} when the text is no number, or below `least`.
  double number(const std::string& name) const;
  double number(const std::string& name, double least) const;
  std::size_t count(const std::string& name, std::size_t least) const;
  // One of these words, else Error{usage}.
  const std::string& word(const std::string& name, std::span<const std::string> words) const;
  std::vector<std::string> words(const std::string& name) const;  // "a+b" -> a, b; empty text: none

 private:
  std::string criterion_;
  std::map<std::string, std::string> values_;
};

}  // namespace assay
