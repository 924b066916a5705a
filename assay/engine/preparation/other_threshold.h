#pragma once

#include <assay/message.h>

namespace assay::inline engine {

// In messages: the likely cause where networks of one name differ.
inline const About other_threshold{" (or the same one at another threshold of its task)",
                                   " (or the same one at another threshold of {task})"};

}  // namespace assay::inline engine
