#pragma once

// Heat maps of texts: what the words of a record say for and against the decision.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/relevance.h>
#include <assay/report.h>
#include <assay/task.h>
#include "assay/results/networks/pictures.h"

namespace assay::results {

// A word with its share of what speaks loudest: 1 for it, -1 against it.
struct ShadedWord {
  std::string text;
  double share = 0;
};

// Of SVG: red for 1, blue for -1, white for 0.
std::string shade_colour(double share);

// "a▁ good█ film▃ bad-▅": each word with a bar as high as its share, a minus before it where it speaks
// against.
std::string shaded_line(std::span<const ShadedWord> words);
// The same as a picture, an SVG file: red for, blue against, as heat maps of pictures are.
std::string shaded_picture(std::span<const ShadedWord> words);

// True when records are numbers of tokens.
bool is_text(const Dataset& data);

// Attributes the decisions on random records to their tokens, joined to words: a table of the records
// (relevance put in, relevance that arrives at the tokens, the text with its shades), one of all words, and
// for each record FOLDER/relevance-INDEX.svg. `tokenizer`: its file; empty: none, tokens are numbers.
// REQUIRES is_text().
void add_text_maps(report::Document& document, const Session& session, const Dataset& data,
                   const std::string& method, relevance::AttributionOptions options, const Drawing& drawing,
                   const std::string& tokenizer, const task::Task* task = nullptr);

}  // namespace assay::results
