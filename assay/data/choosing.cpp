#include "assay/data/choosing.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/data/files/records_file.h"
#include "assay/data/spec.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::inline data {
namespace {

class Choosing {
 public:
  Choosing(const DataSpec& spec, const std::string& text, const ChoosableRecords& records)
      : spec_(spec), text_(text), records_(records), chosen_(records.size) {
    std::iota(chosen_.begin(), chosen_.end(), std::size_t{0});
  }

  std::vector<std::size_t> run() && {
    if (spec_.has("ids")) choose_named(spec_.text("ids"));
    const std::vector<std::string> classes = spec_.words("classes");
    if ((!classes.empty() || spec_.has("per_class")) && records_.labels.empty())
      fail(Fault::usage, "data '{}': classes= and per_class= need labels", text_);
    if (!classes.empty()) keep_classes(classes);
    const std::uint64_t seed = spec_.integer("seed", 1);
    if (spec_.has("per_class")) choose_per_class(seed);
    if (spec_.has("sample"))
      keep(Rng(seed).sample(chosen_.size(),
                            wanted_count("sample", spec_.integer("sample", 0), chosen_.size())));
    for (const Slice& slice : spec_.slices) keep(slice_positions(slice, chosen_.size()));
    return std::move(chosen_);
  }

 private:
  std::int64_t class_named(const std::string& name) const {
    const auto found = std::ranges::find(records_.class_names, name);
    if (found == records_.class_names.end())
      fail(Fault::usage, "data '{}': no class is named '{}'{}", text_, name,
           did_you_mean(name, records_.class_names));
    return found - records_.class_names.begin();
  }

  void keep_classes(const std::vector<std::string>& names) {
    std::set<std::int64_t> wanted;
    for (const std::string& name : names) wanted.insert(class_named(name));
    std::erase_if(chosen_, [&](std::size_t i) { return !wanted.contains(records_.labels[i]); });
  }

  // Those whose ids stand in the file, a line each, in its order.
  void choose_named(const std::string& file) {
    std::multimap<std::string, std::size_t> places;
    for (const std::size_t i : chosen_) places.emplace(id_line(records_.id(i)), i);
    std::set<std::string> seen;
    std::vector<std::size_t> named;
    for (const std::string& line : id_lines(file)) {
      if (!seen.insert(line).second) fail(Fault::data, "{}: the id '{}' occurs twice", file, line);
      const auto [begin, end] = places.equal_range(line);
      if (begin == end) fail(Fault::data, "{}: no record of {} has the id '{}'", file, spec_.path, line);
      for (auto place = begin; place != end; ++place) named.push_back(place->second);
    }
    chosen_ = std::move(named);
  }

  // per_class=22+cat:802: 802 records of the class cat and 22 of every other; without a plain number the
  // others go.
  void choose_per_class(std::uint64_t seed) {
    std::map<std::int64_t, std::int64_t> counts;
    std::optional<std::int64_t> others;
    for (const std::string& word : spec_.words("per_class")) {
      const std::size_t colon = word.rfind(':');
      const std::string number = colon == std::string::npos ? word : word.substr(colon + 1);
      const auto count = number_of<std::int64_t>(number);
      if (!count) fail(Fault::usage, "data '{}': per_class={} is not a number", text_, word);
      if (colon == std::string::npos && others)
        fail(Fault::usage, "data '{}': per_class= gives two numbers, {} and {}, for every class", text_,
             *others, *count);
      if (colon == std::string::npos) {
        others = count;
        continue;
      }
      const std::string name = word.substr(0, colon);
      if (!counts.emplace(class_named(name), *count).second)
        fail(Fault::usage, "data '{}': per_class= names class '{}' twice", text_, name);
    }
    std::map<std::int64_t, std::vector<std::size_t>> members;
    for (const std::size_t i : chosen_) members[records_.labels[i]].push_back(i);
    chosen_.clear();
    for (const auto& [label, all] : members) {
      const auto own = counts.find(label);
      if (own == counts.end() && !others) continue;
      const std::size_t count =
          wanted_count("per_class", own == counts.end() ? *others : own->second, all.size());
      for (const std::size_t p : Rng(seed, {static_cast<std::uint64_t>(label)}).sample(all.size(), count))
        chosen_.push_back(all[p]);
    }
    std::sort(chosen_.begin(), chosen_.end());
  }

  std::size_t wanted_count(const std::string& key, std::int64_t count, std::size_t available) const {
    if (count < 1 || static_cast<std::size_t>(count) > available) {
      fail(Fault::usage, "data '{0}': {1}={2}, but there are {3} records; choose 1 to {3}", text_, key, count,
           available);
    }
    return count;
  }

  void keep(const std::vector<std::size_t>& positions) {
    std::vector<std::size_t> kept;
    for (const std::size_t p : positions) kept.push_back(chosen_[p]);
    chosen_ = std::move(kept);
  }

  const DataSpec& spec_;
  const std::string& text_;
  const ChoosableRecords& records_;
  std::vector<std::size_t> chosen_;
};

}  // namespace

std::vector<std::size_t> chosen_records(const DataSpec& spec, const std::string& text,
                                        const ChoosableRecords& records) {
  return Choosing(spec, text, records).run();
}

}  // namespace assay::inline data
