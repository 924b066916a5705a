#pragma once

// Receptive fields of the units of a convolutional layer.

#include <optional>
#include <vector>

#include <assay/session.h>

namespace assay::inspection {

// Along one axis of a record: the centre of the receptive field of position k is offset + stride * k, in
// elements of the record from 0.
struct Centres {
  double offset = 0, stride = 1;
  double at(double k) const { return offset + stride * k; }
  // The position whose centre is there.
  double position(double at) const { return (at - offset) / stride; }
};

// Of the last `axes` axes of a value, from the strides, kernels and padding of all windows between the input
// and it. Nothing when something else lies between (a transpose, a reshape) or no input is reached.
std::optional<std::vector<Centres>> receptive_centres(const Session& session, ValueId value,
                                                      std::size_t axes);

// `positions` spread evenly over `extent` elements.
Centres evenly(std::int64_t positions, std::int64_t extent);

}  // namespace assay::inspection
