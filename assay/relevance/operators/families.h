#pragma once

#include "assay/relevance/operator.h"

namespace assay::relevance::passing {

using Relevances = std::vector<Array>;
using Positions = std::vector<std::size_t>;

// Who receives.
Positions all(const Dependence&, const Node&);         // every input that carries
Positions first(const Dependence&, const Node&);       // input 0, if it carries
Positions signal(const Dependence&, const Node&);      // of a product: all but the gate
Positions branches(const Dependence&, const Node&);    // of Where: the two values
Positions looked_up(const Dependence&, const Node&);   // of Gather: the table if it carries, else the indices
Positions scattering(const Dependence&, const Node&);  // of ScatterElements: the tensor and what is put in
Positions quotient(const Dependence&,
                   const Node&);  // of Div: the numerator if it carries, else the denominator
Positions sequence(const Dependence&, const Node&);  // of a recurrent cell: the input and the initial states

// How.
Relevances unchanged(const Passage&);  // activations: R_i = R_i
Relevances reshaped(const Passage&);   // the same elements under the input's shape
Relevances moved(const Passage&);      // data movement: the adjoint, with unit weights
Relevances concatenated(const Passage&);
Relevances split(const Passage&);
Relevances embedding(const Passage&);
Relevances where(const Passage&);
Relevances picked(const Passage&);        // TopK: goes back to where the elements were
Relevances scattered(const Passage&);     // by what is put in or added
Relevances proportional(const Passage&);  // z-rule: in proportion to x_i dy/dx_i
Relevances sum(const Passage&);           // Add, Sub, Sum: in proportion to the addends
Relevances mean(const Passage&);
Relevances product(const Passage&);  // Mul, Div: equally among the receivers
Relevances extreme(const Passage&);  // element-wise Max, Min: to the winner, as for ties Passage has it
Relevances max_pool(const Passage&);
Relevances reduced_extreme(const Passage&);  // ReduceMax, ReduceMin, GlobalMaxPool
Relevances bilinear(const Passage&);         // MatMul, Einsum of activations
Relevances softmax(const Passage&);          // AttnLRP: linear in its operand, where it is
Relevances layer_normalisation(const Passage&);
Relevances instance_normalisation(const Passage&);
Relevances group_normalisation(const Passage&);
Relevances mean_variance(const Passage&);
Relevances lstm(const Passage&);
Relevances gru(const Passage&);
Relevances rnn(const Passage&);

}  // namespace assay::relevance::passing
