#pragma once

// Texts that an attack on tokens has changed, as a table.

#include <string>

#include <assay/attack.h>
#include <assay/dataset.h>
#include <assay/report.h>

namespace assay::results {

// Up to `count` successes of the attack (where there are none, other records) as texts before and after, in
// the table "attacked_texts". Nothing where records are not tokens. `tokenizer`: its file.
void add_attacked_texts(report::Document& document, const attack::AttackSummary& summary, const Dataset& data,
                        const std::string& tokenizer, std::size_t count);

}  // namespace assay::results
