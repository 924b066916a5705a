#pragma once

// Learning a profile: one pass of relevance where clusters are asked for, and one pass of activations for everything.

#include "assay/coverage/catalogue.h"
#include "assay/relevance/importance.h"

namespace assay {

struct LearnOptions {
  std::vector<Spec> criteria;             // what the profile is for
  std::vector<std::string> layers;                 // selectors of layers that count; empty: all
  std::vector<std::string> subjects;               // selectors of the layers of idc, lsc, dsc, mdsc; empty: the penultimate layer
  double share = 0.9;                              // for idc[m=auto]: of the absolute relevance, at most `cap` neurons
  std::size_t cap = 12;
  ImportanceOptions importance;
  std::string clusterer = "kmeans";
  ClusterOptions clusters;
  Reduction reduction = Reduction::mean;
  std::size_t batch = 0;
};

struct Learned {
  Profile profile;
  Importance importance;                           // empty unless clusters were asked for
  std::size_t non_finite = 0;                      // records left out because an activation is not finite
  std::vector<std::string> non_finite_ids;         // the first few
};

// Throws Error{mismatch} when importance is needed and the network classifies no record correctly.
Learned learn_profile(const Session& session, DatasetPtr training, const LearnOptions& options, Progress& progress);

// Per record, whether all its activations are finite.
std::vector<bool> finite_rows(std::span<const Activations> layers, std::size_t rows);

}  // namespace assay
