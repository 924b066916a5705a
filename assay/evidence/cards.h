#pragma once

#include "assay/evidence/blocks.h"
#include "assay/evidence/pack.h"

namespace assay::evidence {

// The network, from the steps `model`: facts, layers, dead neurons.
void add_network_card(Text& text, std::span<const StepResult> results);

// Of each data set, from the steps `data`: counts, classes, ranges, duplicates; overlap of test and training
// set where a step found some.
void add_data_cards(Text& text, std::span<const StepResult> results);

// Facts as a table of two columns; nothing where there are none.
void add_facts(Text& text, const report::Document& document);
// A table of a result, at most `most` rows of it.
void add_table(Text& text, const report::Table& table, std::size_t most);

}  // namespace assay::evidence
