#pragma once

// The version of the library whose headers these are; builds and packages read it from this line.
#define ASSAY_VERSION_TEXT "1.0.0"
