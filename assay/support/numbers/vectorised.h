#pragma once

// Marks a function to be compiled for several instruction sets, the best of which is taken at run time. Not
// under sanitizers, whose run-time start-up cannot resolve such functions.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ASSAY_VECTORISED __attribute__((target_clones("default", "avx2", "avx512f"), optimize("O3")))
#else
#define ASSAY_VECTORISED
#endif
