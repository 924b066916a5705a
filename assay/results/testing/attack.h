#pragma once

// Attacks as result documents and pictures.

#include <filesystem>
#include <span>
#include <vector>

#include <assay/attack.h>
#include <assay/graph.h>
#include <assay/report.h>
#include <assay/results.h>
#include "assay/results/groups.h"

namespace assay::results {

// Puts up to `count` records of an attack beside what they were into the document: successes, or where there
// are none the others; as pictures, or where records are none as rows of the table `attacked`. `options`: of
// the attack; of items the captions say what changed, and the colours of their classes have names.
void show_attacked(report::Document& document, const attack::AttackSummary& summary, const Session& session,
                   const Dataset& data, const attack::AttackOptions& options, std::size_t count,
                   const std::filesystem::path& folder);

// Success of each attack among the attacked records of a group, and the robust accuracy where there is one.
// Nothing where only successes were stored.
std::vector<FigureByGroup> by_group(const std::vector<attack::AttackSummary>& summaries,
                                    const attack::AttackOptions& options, const Dataset& data,
                                    std::span<const groups::Group> groups);

}  // namespace assay::results
