#pragma once

// What activations cause, as documents and pictures.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <assay/gate.h>
#include <assay/graph.h>
#include <assay/patching.h>
#include <assay/report.h>

namespace assay::results {

// `top`: sites of the table of the strongest.
report::Document document_of(const inspection::Patching& found, const inspection::PatchOptions& options,
                             const Graph& network, std::size_t top);
report::Document document_of(const inspection::Ablation& found, const inspection::AblationOptions& options,
                             const Graph& network);

// made-good[head=0,position=3] of a layer, with `all` where the site is not of one; lead-lost[head=0].
std::vector<report::Measurement> measurements_of(const inspection::Patching& found);
std::vector<report::Measurement> measurements_of(const inspection::Ablation& found);

// Shares of effects as a map: layers by positions, or attentions by heads; of heads by position each head is
// a row. An SVG file.
std::string effect_map(std::span<const inspection::PatchEffect> effects);
// One of all layers and one of all heads, as files patched-layers.svg and patched-heads.svg.
std::vector<report::Picture> draw_effects(const inspection::Patching& found,
                                          const std::filesystem::path& folder);

}  // namespace assay::results
