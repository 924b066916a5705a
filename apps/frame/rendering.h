#pragma once

// Outputs of a result: files in their forms, and one form on standard output.

#include <assay/report.h>
#include "apps/frame/command.h"

namespace assay::frame {

// Throws Error{usage} where two flags ask for standard output.
void require_one_form(const Settings& settings);

// What a run has for standard output.
struct Shown {
  const report::Document& document;
  std::string printed = {};  // in place of tables for people; empty: tables
};

// The files first: they are written even if standard output fails. What cannot be written keeps nothing else
// from being written and shown; then its error is thrown.
void render(const report::Document& document, const Shown& shown, const Settings& settings);

// Throws Error{io} when writing failed, without a message where a pipe's reader has seen enough.
void flush_standard_output();

}  // namespace assay::frame
