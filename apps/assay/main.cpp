// assay: white-box testing for deep-learning models. See docs/ for the manual.

#include "apps/assay/program.h"

int main(int argc, char** argv) { assay::frame::run_program(assay::app::program(), argc, argv); }
