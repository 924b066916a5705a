#pragma once

// Gates: conditions on measured coverage that decide the exit code of a build. Counts are compared as exact
// integers of any size and real numbers by their exact binary value, so nothing is ever rounded over a
// threshold. A gate that cannot be evaluated has failed.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/report.h>

namespace assay::report {

// One number that a run measured.
struct Measurement {
  std::string criterion;      // "kmnc"
  std::string layer = "all";  // a layer's name, or "all" for all layers together
  // Empty: over all classes, all contexts. A context has a name, or is a group of records by characteristics,
  // "weather=fog,sex=f" (docs/characteristics.md).
  std::string class_name, context;
  std::string covered, coverable;  // exact decimal counts; empty for measures that are not counts
  double value = 0;                // covered / coverable, or the measure
  bool higher_is_better = true;
};

// The name alone of a criterion with options: "idc" of "idc[m=6]".
std::string_view base_name(std::string_view criterion);

// Reads NAME[key=value,...]=THRESHOLD with the keys layer, class and context:
//   accuracy[weather=fog]>=0.9   accuracy[weather=*,sex=*]>=0.8     of groups of records
//   idc=0.35   kmnc[layer=conv2]=60%   nc[layer="a,b",context=night]>=0.5   lsa<=12.5   kmnc[layer=*]=0.2
// `*` asks for every layer (class, context) there is; if no single class or context was measured, the gate
// fails. Without `layer` the gate is on all layers together, or on each where they do not add up; without
// class and context on all records. A name that is not exactly that of a figure asks for every variant of the
// criterion: idc for idc[m=6] and idc[m=8], idc[m=6] for idc[layer=fc1,m=6]. "=" means at least, and at most
// for measures of which less is better. Throws Error{usage} naming what is wrong.
Gate parse_gate(std::string_view text);

// The gate with its outcome. Where several figures are requested, the outcome is that of the worst one; where
// it fails, its reason names those that fail with their figures, the worst first (at most 12).
Gate evaluate(Gate gate, std::span<const Measurement> measurements);

// Why no figure of a run that will measure these criteria and layers could ever pass the gate (values,
// classes and contexts do not matter); empty if one could.
std::string impossible(const Gate& gate, std::span<const Measurement> measurements);

struct Ratchet {
  std::string tolerance = "0";         // exact decimal: how much worse a figure may be
  std::vector<std::string> only = {};  // names with selectors as gates have them, "kmnc[layer=*]"; empty: all
};

// One gate per chosen measurement of the baseline: now at least as good as then, exactly, less the tolerance.
// Missing measurements fail. Throws Error{data} when the baseline holds no measurement, Error{usage} for a
// choice that selects none.
std::vector<Gate> no_worse_than(const Document& baseline, std::span<const Measurement> measurements,
                                const Ratchet& ratchet = {});

// The table "criteria" of a result document, and back. Throws Error{data} for a table that holds no counts.
Table criteria_table(std::span<const Measurement> measurements);
std::vector<Measurement> measurements_of(const Document& document);

// "kmnc[layer=conv2]=0.6: 512 of 1000 (51.20 %)".
std::string described(const Gate& gate);
std::string outcome_of(const Gate& gate);  // the part after the gate's own text; may be empty
bool any_failed(const Document& document);

}  // namespace assay::report
