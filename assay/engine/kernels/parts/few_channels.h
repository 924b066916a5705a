#pragma once

// Convolutions of records with few channels (pictures), where the gradient is wanted for the records and for
// no weight, as in attacks and attributions. oneDNN computes that gradient for 16 channels at a time whatever
// their number; a matrix product and a sum over the windows take a fifth of the time for 1 channel and half
// for 3.

#include "assay/engine/kernels/parts/support.h"

namespace assay::operators {

// Over two spatial axes, without groups or dilation.
struct PictureConvolution {
  Tensor input, filter, bias;  // [n, c, h, w]; [k, c, kh, kw]; [k] or undefined
  Ints stride, padding;        // two entries each; the padding is the same at both ends
};

// True where the gradient of the input alone is recorded and the channels are so few that this way is faster.
bool gains_from_few_channels(const PictureConvolution& convolution);

// As at::conv2d, with the faster gradient. The gradient itself cannot be differentiated. REQUIRES
// gains_from_few_channels().
Tensor convolve_few_channels(const PictureConvolution& convolution);

}  // namespace assay::operators
