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

// What additions that raise coverage add to it.
report::Document document_of(const retraining::Raising& raising, const Spec& criterion);

// What records made by an attack are: additions, or records to judge by.
report::Definition definition_of(const retraining::MadeRecords& made, bool additions);

}  // namespace assay::results
