// The program `assay`, which a wheel has in the module and nowhere else: its script calls this
// (release/program.py).

#include "apps/assay/program.h"
#include "assay/support/process.h"

// `arguments[0]`: the script, which is run again where the program starts itself.
extern "C" [[gnu::visibility("default"), noreturn]] void assay_run_program(int count, char** arguments) {
  assay::set_this_program(arguments[0]);
  assay::frame::run_program(assay::app::program(), count, arguments);
}
