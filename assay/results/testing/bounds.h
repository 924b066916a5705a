#pragma once

// Bounds as result documents, and their figures for gates.

#include <span>
#include <vector>

#include <assay/bounds.h>
#include <assay/gate.h>
#include <assay/report.h>

namespace assay::results {

// `detailed`: with a row for every record.
report::Document document_of(std::span<const bounds::RecordBounds> found,
                             const bounds::CertifyOptions& options, const Graph& network, const Dataset& data,
                             bool detailed);
// certified, attacked and open of all records; with radii certified-radius[quantile=...] of the right ones.
std::vector<report::Measurement> measurements_of(std::span<const bounds::RecordBounds> found,
                                                 const bounds::CertifyOptions& options);

report::Document document_of(const bounds::Answer& answer, const bounds::Query& query,
                             const bounds::SolveOptions& options, const Graph& network);
std::vector<report::Measurement> measurements_of(const bounds::Answer& answer);

report::Document document_of(const bounds::WitnessCheck& check, const bounds::Query& query,
                             const Graph& network);
std::vector<report::Measurement> measurements_of(const bounds::WitnessCheck& check);

}  // namespace assay::results
