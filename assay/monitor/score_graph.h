#pragma once

// The score of a monitor as nodes of a network.

#include <assay/model.h>
#include <assay/monitor.h>

namespace assay::monitor {

inline constexpr const char *score_name = "monitor_score", *alarm_name = "monitor_alarm";

// The network with the outputs of the monitor, which has all but a graph.
Graph with_score(const Session& session, const Monitor& monitor);

// The layer's activations [N, neurons], as a further value of the network.
ValueId add_features(GraphBuilder& edit, const Session& session, const Layer& layer);

}  // namespace assay::monitor
