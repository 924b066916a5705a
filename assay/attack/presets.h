#pragma once

#include <string_view>

namespace assay::attack {

// Whether the attacks of a preset are one judgement by several in turn: each sees only records that every
// attack before it did not fool, as in the published program.
bool judges_together(std::string_view preset);

}  // namespace assay::attack
