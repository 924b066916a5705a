#pragma once

// The frame's words that every command uses.

#include "apps/frame/command.h"
#include "apps/frame/gate_options.h"
#include "apps/frame/wording.h"

namespace assay::app {

using frame::check_result_replaced;
using frame::Command;
using frame::CommandInfo;
using frame::Concept;
using frame::Configured;
using frame::Context;
using frame::EffectiveOptions;
using frame::Flags;
using frame::GateOptions;
using frame::make_command;
using frame::of_flags;
using frame::Product;
using frame::refuse;
using frame::refuse_given;
using frame::refuse_without_effect;
using frame::Settings;
using frame::Shared;

// Where `assay --help` lists commands.
inline constexpr frame::Group begin_group{"Begin"}, test_group{"Test"}, files_group{"Files", true},
    break_group{"Break"}, explain_group{"Explain"}, assure_group{"Assure", true}, report_group{"Report"},
    look_up_group{"Look up", true};

}  // namespace assay::app
