#pragma once

// The one matrix product of the surprise measures, in float32: oneDNN's, or a plain one where that is
// missing.

#include <cstddef>

namespace assay::surprise {

// While it lives, products run on the calling thread.
class OneOpenMpThread {
 public:
  OneOpenMpThread();
  ~OneOpenMpThread();
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_;
};

// out[i][j] = sum over c of left[i][c] * right[j][c], in any order. All row-major, `columns` wide; `out` is
// `count` wide.
void product(const float* left, std::size_t rows, const float* right, std::size_t count, std::size_t columns,
             float* out);

}  // namespace assay::surprise
