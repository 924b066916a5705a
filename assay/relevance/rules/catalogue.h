#pragma once

#include "assay/relevance/rule.h"

namespace assay::redistribution {

// One function per rule, defined in the file of that name.
RuleInfo lrp_0();
RuleInfo epsilon();
RuleInfo alpha_beta();
RuleInfo z_plus();
RuleInfo gamma();
RuleInfo gamma_original();
RuleInfo box();
RuleInfo w_square();
RuleInfo flat();
RuleInfo pass();

}  // namespace assay::redistribution
