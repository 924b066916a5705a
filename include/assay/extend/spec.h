#pragma once

// How users name one member of a catalogue and its options: NAME[option=value,...], such as the criterion
// kmnc[sections=100,layer=conv1+conv2] or the mutation operator gf[sigma=0.1].

#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay::inline support {

struct Spec {
  std::string name;
  std::map<std::string, std::string> options;  // those given
  std::string text() const;                    // canonical: options in alphabetical order
  bool operator==(const Spec&) const = default;
};

// `kind` says in messages what is named: "criterion". Throws Error{usage} naming what is wrong in the text;
// whether the name exists is for the catalogue to say.
Spec parse_spec(const std::string& kind, const std::string& text);

// "fgsm,pgd[eps=0.1,steps=5]" at the commas outside of brackets. A part in double quotes is taken as it is,
// without them: "\"a,b\",c" are a,b and c; a quote within is doubled.
std::vector<std::string> split_specs(const std::string& text);
// The text as one part of such a list: in quotes where it would be split.
std::string quoted_spec(const std::string& text);

struct SpecOption {
  std::string name, fallback, summary;
};

// Options of one member with its defaults filled in.
class SpecOptions {
 public:
  // Throws Error{usage} for an option that is not declared.
  SpecOptions(const std::string& kind, const Spec& spec, std::span<const SpecOption> declared);
  const std::string& owner() const { return owner_; }  // whose they are, for messages: "operator 'le'"
  const std::string& text(const std::string& name) const { return values_.at(name); }
  // Throw Error{usage} when the text is not a number, or below `least`.
  double number(const std::string& name) const;
  double number(const std::string& name, double least) const;
  std::size_t count(const std::string& name, std::size_t least) const;
  // One of these words, else Error{usage}.
  const std::string& word(const std::string& name, std::span<const std::string> words) const;
  std::vector<std::string> words(const std::string& name) const;  // "a+b" -> a, b; empty text: none

 private:
  std::string owner_;
  std::map<std::string, std::string> values_;
};

}  // namespace assay::inline support
