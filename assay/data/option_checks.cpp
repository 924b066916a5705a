#include "assay/data/option_checks.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <assay/error.h>
#include "assay/data/files/csv.h"
#include "assay/support/text/text.h"

namespace assay::inline data {
namespace {

// Options that any format may have; formats add theirs (FormatInfo::options).
const std::set<std::string> common_options{
    "format", "labels", "label",   "targets",    "target",    "id",   "scale",   "mean",    "std",
    "layout", "range",  "classes", "sample",     "per_class", "seed", "flatten", "relabel", "decimal",
    "ids",    "masks",  "boxes",   "categories", "texts",     "meta", "metadata"};

// An option that neither the format nor all formats have.
void check_names(const DataSpec& spec, const std::string& text, const FormatInfo& format) {
  std::vector<std::string> names(common_options.begin(), common_options.end());
  names.insert(names.end(), format.options.begin(), format.options.end());
  for (const auto& [key, value] : spec.options) {
    if (std::ranges::find(names, key) != names.end()) continue;
    for (const FormatInfo& other : data_formats()) {
      if (std::ranges::find(other.options, key) == other.options.end()) continue;
      fail(Fault::usage, "data '{}': {}= is for the format {}, and this is {}", text, key, other.name,
           format.name);
    }
    fail(Fault::usage, "data '{}': there is no option '{}'{}", text, key, did_you_mean(key, names));
  }
}

// Values that would be taken for something else than what they say.
void check_values(const DataSpec& spec, const std::string& text, const FormatInfo& format) {
  if (spec.integer("seed", 1) < 0)
    fail(Fault::usage, "data '{}': seed={} is less than 0", text, spec.text("seed"));
  const std::int64_t flatten = spec.integer("flatten", 0);
  if (flatten != 0 && flatten != 1)
    fail(Fault::usage, "data '{}': flatten={} is neither 0 nor 1", text, spec.text("flatten"));
  if (spec.has("categories") && !spec.has("boxes"))
    fail(Fault::usage, "data '{}': categories= is about boxes, but no boxes are given; add boxes=", text);
  if (spec.has("metadata") && !spec.has("meta"))
    fail(Fault::usage, "data '{}': which columns of metadata= are characteristics? add meta=COLUMN+COLUMN",
         text);
  if (format.name == "csv" || format.name == "jsonl") return;
  const bool labels = is_table_name(spec.text("labels")) || is_table_name(spec.text("texts")),
             targets = spec.has("targets"), metadata = spec.has("metadata");
  for (const auto& [key, used] :
       {std::pair("label", labels), std::pair("target", targets),
        std::pair("id", labels || targets || metadata), std::pair("decimal", labels || targets)}) {
    if (spec.has(key) && !used)
      fail(Fault::usage,
           "data '{}': {}= is about a table, but no table is given; add labels=, targets= or metadata=", text,
           key);
  }
}

}  // namespace

void check_options(const DataSpec& spec, const std::string& text, const FormatInfo& format) {
  check_names(spec, text, format);
  check_values(spec, text, format);
}

}  // namespace assay::inline data
