#pragma once

// Layers that analyses look at by default.

#include <functional>

#include <assay/session.h>

namespace assay {

// Session::penultimate_layer() of those that count; nullptr where none does.
const Layer* penultimate_among(const Session& session, const std::function<bool(const Layer&)>& counts);

}  // namespace assay
