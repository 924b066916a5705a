#pragma once

// Retraining as result documents.

#include <string>
#include <vector>

#include <assay/gate.h>
#include <assay/report.h>
#include <assay/results.h>
#include <assay/retraining.h>
#include "assay/retraining/additions.h"
#include "assay/retraining/raising.h"

namespace assay::results {

// The coverage that additions add.
report::Document document_of(const retraining::Raising& raising, const Spec& criterion);

// The role of records made by an attack: additions, or records to judge by.
report::Definition definition_of(const retraining::MadeRecords& made, bool additions);

}  // namespace assay::results
