#pragma once

// Families of siblings that users name (criteria, attacks, mutation operators, constraints, ...): one open
// catalogue each. An entry is data and a factory; a name is a convenience for text (command line,
// assay.toml), never the only way in: where an analysis takes a Choice, an object of the caller's own does as
// well.
//
// Catalogues hold what Assay brings from the start, in the order in which it is shown. add() makes more of
// them known, from a program or a plug-in, before analyses run: looking up is thread-safe, adding is not.

#include <concepts>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <assay/error.h>
#include <assay/extend/spec.h>

namespace assay::inline support {

// How messages speak of the members of a catalogue.
struct CatalogueWords {
  std::string one;             // "criterion"
  std::string explained = {};  // where all are explained: "`assay criteria` explains them"
};

// Throws Error{usage} with the nearest of `names` and all of them.
[[noreturn]] void fail_unknown(const CatalogueWords& words, std::string_view name,
                               const std::vector<std::string>& names);

// Info has a `name`; to be asked for options it has `options` (std::vector<SpecOption>) as well.
template <typename Info>
class Catalogue {
 public:
  Catalogue(CatalogueWords words, std::vector<Info> entries) : words_(std::move(words)) {
    for (Info& info : entries) add(std::move(info));
  }
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  // References to entries stay valid. Throws Error{usage} for a name that is taken or that no spec could
  // hold.
  const Info& add(Info info) {
    const std::string name(info.name);
    if (parse_spec(words_.one, name) != Spec{name, {}}) {
      fail(Fault::usage, "'{}' cannot be the name of a {}: a name has no brackets and is not empty", name,
           words_.one);
    }
    if (contains(name))
      fail(Fault::usage, "a {} named '{}' exists already; choose another name", words_.one, name);
    return entries_.emplace_back(std::move(info));
  }

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  const Info& front() const { return entries_.front(); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Info& info : entries_) all.emplace_back(info.name);
    return all;
  }

  bool contains(std::string_view name) const { return look_up(name) != nullptr; }
  // Throws Error{usage} with the nearest name and all that there are.
  const Info& find(std::string_view name) const {
    if (const Info* info = look_up(name)) return *info;
    fail_unknown(words_, name, names());
  }
  const CatalogueWords& words() const { return words_; }

 private:
  const Info* look_up(std::string_view name) const {
    for (const Info& info : entries_) {
      if (info.name == name) return &info;
    }
    return nullptr;
  }

  CatalogueWords words_;
  std::deque<Info> entries_;
};

// Members of a family with the options of a paper or of its released code.
struct Preset {
  std::string name, summary;
  std::vector<std::string> specs;
};

// What an analysis takes where a member of a catalogue is wanted: its name with options ("pgd[eps=0.1]"), or
// an object and what results are to call it. Object::kind says what is named, for messages: "attack".
template <typename Object>
class Choice {
 public:
  Choice(Spec spec) : spec_(std::move(spec)) {}
  Choice(const std::string& text) : spec_(parse_spec(Object::kind, text)) {}
  Choice(const char* text) : Choice(std::string(text)) {}
  // Throws Error{usage} when `text` is not a spec.
  Choice(const std::string& text, std::shared_ptr<const Object> object)
      : spec_(parse_spec(Object::kind, text)), object_(std::move(object)) {}

  const Spec& spec() const { return spec_; }
  // The caller's own; null where the catalogue's entry of that name is meant.
  const std::shared_ptr<const Object>& object() const { return object_; }

 private:
  Spec spec_;
  std::shared_ptr<const Object> object_;
};

// Names alone, as a command line has them.
template <typename Object>
std::vector<Choice<Object>> choices_of(const std::vector<Spec>& specs) {
  return {specs.begin(), specs.end()};
}

}  // namespace assay::inline support
