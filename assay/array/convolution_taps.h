#pragma once

// Convolutions whose filters look at one channel each, without columns: T is float or double.

#include "assay/array/convolution_plan.h"

namespace assay::array {

// Whether it is worth it.
bool suits_taps(const ConvolutionPlan& plan);

template <typename T>
void positions_by_taps(const ConvolutionPlan& plan, const T* image, const T* filter, const T* bias, T* out);
template <typename T>
void image_by_taps(const ConvolutionPlan& plan, const T* positions, const T* filter, T* out);
template <typename T>
void filter_by_taps(const ConvolutionPlan& plan, const T* image, const T* positions, T* out);

}  // namespace assay::array
