#pragma once

// All post-processors; their catalogue is in catalogue.cpp.

#include "assay/text/parts.h"

namespace assay::text {

PartInfo<PostProcessor> bert_processing();
PartInfo<PostProcessor> byte_level_processing();
PartInfo<PostProcessor> post_processor_sequence();
PartInfo<PostProcessor> roberta_processing();
PartInfo<PostProcessor> template_processing();

}  // namespace assay::text
