// Spectra, and what audio models make them with.

#include <cmath>
#include <numbers>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

constexpr double pi = std::numbers::pi;

DType type_asked_for(const Call& call) { return scalar_type_of(call.node.integer("output_datatype", 1)); }

// sum over k of (-1)^k a_k cos(2 pi k n / N).
Outputs cosine_window(const Call& call, const std::vector<double>& terms) {
  const std::int64_t size = call.integer(0, -1);
  require_in("the window's size", size, 0, std::int64_t{1} << 40);
  check_size({size}, 8);
  const double period = call.node.integer("periodic", 1) != 0 ? size : size - 1;
  const Array angle = array::arange(size, DType::float64) * (2 * pi / std::max(period, 1.0));
  Array window = array::zeros({size}, DType::float64);
  for (std::size_t k = 0; k < terms.size(); ++k)
    window = window + (k % 2 == 0 ? terms[k] : -terms[k]) * array::cos(angle * static_cast<double>(k));
  return {window.to(type_asked_for(call))};
}

// The frequencies [.., bins, 2] of signals [.., n, 1 or 2], by the definition: a matrix product for each
// part.
Array spectrum(const Array& signal, std::int64_t length, std::int64_t bins, bool inverse) {
  check_size({bins, length}, 2 * size_of(signal.dtype()));
  const std::int64_t parts = signal.size(-1), given = std::min(length, signal.size(-2));
  if (parts != 1 && parts != 2) fail(Fault::model, "the last axis has {} parts; it is 1 or 2", parts);
  // The angle's multiple is reduced as an integer, so that long signals lose nothing.
  const Array turns = array::remainder(
      array::arange(bins, DType::int64).unsqueeze(1) * array::arange(given, DType::int64).unsqueeze(0),
      length);
  const Array angle = turns.to(DType::float64) * (2 * pi / length);
  const Array cosine = array::cos(angle).to(signal.dtype()), sine = array::sin(angle).to(signal.dtype());
  const Array x = signal.slice(-2, 0, given);
  const auto through = [](const Array& matrix, const Array& part) {
    return array::matmul(matrix, part.unsqueeze(-1)).squeeze(-1);
  };
  const Array real = x.select(-1, 0);
  Array re = through(cosine, real), im = inverse ? through(sine, real) : -through(sine, real);
  if (parts == 2) {
    const Array imaginary = x.select(-1, 1);
    const Array rotated = through(sine, imaginary);
    re = inverse ? re - rotated : re + rotated;
    im = im + through(cosine, imaginary);
  }
  const Array both = array::stack({re, im}, -1);
  return inverse ? both / static_cast<double>(length) : both;
}

std::int64_t frequencies(std::int64_t length, bool one_sided) { return one_sided ? length / 2 + 1 : length; }

// The real signal [.., length, 1] whose one-sided spectrum this is, [.., bins, 2]: the other side is
// conjugate.
Array real_signal(const Array& given, std::int64_t length) {
  const std::int64_t bins = frequencies(length, true), kept = std::min(bins, given.size(-2));
  check_size({length}, 2 * size_of(given.dtype()));
  const Array side = array::pad(given.narrow(-2, 0, kept), {0, 0, 0, bins - kept});
  const Array mirrored = array::flip(side.narrow(-2, 1, length - bins), {-2});
  const Array conjugate = mirrored * array::tensor({1.0F, -1.0F}, mirrored.dtype());
  return spectrum(array::cat({side, conjugate}, -2), length, length, true).narrow(-1, 0, 1);
}

double mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }

}  // namespace

Outputs hann_window(const Call& call) { return cosine_window(call, {0.5, 0.5}); }
Outputs hamming_window(const Call& call) { return cosine_window(call, {25.0 / 46, 21.0 / 46}); }
Outputs blackman_window(const Call& call) { return cosine_window(call, {0.42, 0.5, 0.08}); }

Outputs dft(const Call& call) {
  const Array& x = call.input(0);
  require_rank_at_least(x, 2);
  if (!is_real(x.dtype())) fail(Fault::model, "the signal must be of floating-point numbers");
  const std::int64_t axis = axis_in(call.integer(2, -2), x.rank());
  if (axis == x.rank() - 1) fail(Fault::model, "the last axis holds real and imaginary parts");
  const bool one_sided = call.node.integer("onesided", 0) != 0,
             inverse = call.node.integer("inverse", 0) != 0;
  const bool to_real = one_sided && inverse;
  const std::int64_t length = call.integer(1, to_real ? 2 * (x.size(axis) - 1) : x.size(axis));
  require_in("the length", length, 1, std::int64_t{1} << 30);
  if (one_sided && x.size(-1) != (inverse ? 2 : 1))
    fail(Fault::model, "one-sided spectra are of real signals, and complex themselves");
  if (to_real) return {real_signal(x.movedim(axis, -2), length).movedim(-2, axis)};
  const Array result = spectrum(x.movedim(axis, -2), length, frequencies(length, one_sided), inverse);
  return {result.movedim(-2, axis)};
}

Outputs stft(const Call& call) {
  const Array& signal = call.input(0);
  if (!is_real(signal.dtype())) fail(Fault::model, "the signal must be of floating-point numbers");
  const Array x = signal.rank() == 2 ? signal.unsqueeze(-1) : signal;
  if (x.rank() != 3) fail(Fault::model, "the signal has {} axes; 3 are needed", signal.rank());
  const std::int64_t step = call.integer(1, 0);
  const std::int64_t length = call.has(3) ? call.integer(3, 0) : call.has(2) ? call.input(2).count() : 0;
  require_in("the frames' step", step, 1, std::int64_t{1} << 30);
  require_in("the frames' length", length, 1, x.size(1));
  const std::int64_t count = (x.size(1) - length) / step + 1;
  check_size({x.size(0), count, length, 2}, size_of(x.dtype()));
  Array frames = x.unfold(1, length, step).transpose(2, 3);  // [batch, frames, length, parts]
  if (call.has(2)) {
    if (call.input(2).count() != length)
      fail(Fault::model, "the window has {} elements, not {}", call.input(2).count(), length);
    frames = frames * call.input(2).to(x.dtype()).reshape({length, 1});
  }
  const bool one_sided = call.node.integer("onesided", 1) != 0 && x.size(2) == 1;
  return {spectrum(frames, length, frequencies(length, one_sided), false)};
}

// As the standard writes it: triangles between bins that are found by rounding down.
Outputs mel_weight_matrix(const Call& call) {
  const std::int64_t bins = call.integer(0, 0), length = call.integer(1, 0), rate = call.integer(2, 0);
  const double lowest = call.number(3, 0), highest = call.number(4, 0);
  require_in("the number of mel bins", bins, 1, 1 << 20);
  require_in("the length of the transform", length, 1, 1 << 30);
  require_in("the sample rate", rate, 1, 1 << 30);
  if (!(lowest >= 0 && lowest <= highest && highest <= rate))
    fail(Fault::model, "the edges {} and {} are not within 0 and the sample rate {}", lowest, highest, rate);
  const std::int64_t rows = length / 2 + 1;
  check_size({rows, bins}, 8);
  const double step = (mel(highest) - mel(lowest)) / static_cast<double>(bins + 2);
  Ints edges;
  for (std::int64_t i = 0; i < bins + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (i * step + mel(lowest)) / 2595) - 1);
    const double edge = std::floor(static_cast<double>(length + 1) * hertz / rate);
    edges.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(edge), 0, rows - 1));
  }
  Array matrix = array::zeros({rows, bins}, DType::float64);
  const auto weight = [&](std::int64_t row, std::int64_t bin) -> double& {
    return matrix.elements<double>()[row * bins + bin];
  };
  for (std::int64_t i = 0; i < bins; ++i) {
    const std::size_t at = i;
    const std::int64_t low = edges[at], middle = edges[at + 1], high = edges[at + 2];
    if (low == middle) weight(middle, i) = 1;
    for (std::int64_t j = low; low < middle && j <= middle; ++j)
      weight(j, i) = static_cast<double>(j - low) / (middle - low);
    for (std::int64_t j = middle; j < high; ++j)
      weight(j, i) = static_cast<double>(high - j) / (high - middle);
  }
  return {matrix.to(type_asked_for(call))};
}

}  // namespace assay::operators
