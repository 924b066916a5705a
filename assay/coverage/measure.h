#pragma once

// Measuring a test set: every layer and every m of a profile in one pass.

#include <memory>
#include <vector>

#include "assay/coverage/idc.h"

namespace assay {

struct IdcResult {
  std::string layer;
  std::size_t m = 0;
  Idc idc;
};

std::vector<IdcResult> measure_idc(const Session& session, const Profile& profile, DatasetPtr test, const WalkOptions& options,
                                   Progress& progress);

}  // namespace assay
