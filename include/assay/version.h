#pragma once

// The version of the library whose headers these are; CMakeLists.txt refuses to build another.
#define ASSAY_VERSION_TEXT "0.1.0"
