#pragma once

// Units that learn to follow a hypothesis in addition to the task of their network, by an auxiliary loss
// (Sellam et al., SIGMOD 2019): what an inspection of them should find is known.

#include <string>
#include <vector>

#include <assay/inspection.h>
#include <assay/training.h>

namespace assay::inspection {

struct Specialisation {
  std::string hypothesis;          // its name
  std::string layer;               // selector
  std::vector<std::size_t> units;  // ascending
  double weight = 0.5;             // of their difference from the hypothesis in the whole loss
};

// "depth[layer=lstm,units=0-3,weight=0.5]". Throws Error{usage}.
Specialisation parse_specialisation(const std::string& text);

struct SpecialisedTraining {
  Graph graph;  // to be trained: the network, with the whole sequence of a recurrent layer as a value
  training::AuxiliaryLoss loss;
};

// The loss is the mean over units, records and positions of (activation - behaviour)^2, the behaviour scaled
// to [0, 1] over the records; positions of padding and don't-cares are left out. `hypotheses`: those that
// names are taken from; of the options the vocabulary counts. Throws Error{usage} for names and units that
// there are not and weights of more than 1 together, Error{mismatch} where units and hypothesis have
// different positions or the hypothesis is constant.
SpecialisedTraining specialised_training(const Graph& graph, const std::vector<Specialisation>& wanted,
                                         const DatasetPtr& records,
                                         const std::vector<AnnotatorChoice>& hypotheses,
                                         const InspectOptions& options, const SessionOptions& session,
                                         Progress& progress);

}  // namespace assay::inspection
