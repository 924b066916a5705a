// LocallyConnected1D and 2D: convolutions with a separate kernel for each position.

#include <algorithm>
#include <functional>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"
#include "assay/model/keras/layers/window.h"

namespace assay::keras {
namespace {

constexpr std::int64_t most_offsets = 4096;  // of a window, each a node

// Calls visit(index) for every index of a shape, in row-major order.
void each(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  Shape index(shape.size(), 0);
  for (std::int64_t count = element_count(shape); count > 0; --count) {
    visit(index);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

std::int64_t place_in(const Shape& shape, const Shape& index) {
  std::int64_t place = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) place = place * shape[i] + index[i];
  return place;
}

Shape joined(std::initializer_list<Shape> parts) {
  Shape all;
  for (const Shape& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

class LocallyConnected {
 public:
  LocallyConnected(LayerBuilder& layer, std::span<const KerasTensor> inputs)
      : layer_(layer),
        rank_(spatial_rank(layer.class_name())),
        x_(as_image(layer, inputs, rank_)),
        first_(layer.channels_first_config()),
        filters_(layer.config().size("filters", 0)),
        channels_(x_.channels),
        window_(layer.config().sizes("kernel_size", rank_, 1)),
        stride_(layer.config().sizes("strides", rank_, 1)),
        same_(layer.config().text("padding", "valid") == "same") {
    for (std::size_t i = 0; i < rank_; ++i) {
      if (x_.positions[i] < 1 || channels_ < 1)
        layer.invalid("the shape of its input must be known; give the model's Input a full shape");
      before_.push_back(same_ ? window_[i] / 2 : 0);
      const std::int64_t span = same_ ? x_.positions[i] : x_.positions[i] - window_[i] + 1;
      if (span < 1) layer.invalid(fmt::format("its window does not fit into {}", to_string(x_.positions)));
      out_.push_back((span - 1) / stride_[i] + 1);
    }
    if (element_count(window_) > most_offsets)
      layer.unsupported(fmt::format("a window of {}", to_string(window_)), "use a smaller one, or Conv");
  }

  KerasTensors build() {
    const std::int64_t positions = element_count(out_), offsets = element_count(window_);
    const Array kernel = Array::of(Shape{positions, offsets, channels_, filters_}, kernel_by_position());
    std::vector<ValueId> parts;
    const ValueId padded = surrounded();
    each(window_, [&](const Shape& offset) { parts.push_back(under(padded, offset)); });
    const ValueId patches =
        parts.size() == 1 ? parts[0]
                          : layer_.add("Concat", "_patches", parts, {{"axis", std::int64_t{1}}}, "_patches");
    const ValueId product = layer_.add("Einsum", "", {patches, layer_.constant("kernel", kernel)},
                                       {{"equation", std::string("nkcp,pkcf->nfp")}}, "_product");
    const bool biased = layer_.config().flag("use_bias", true);
    const auto suffix = preact_suffix(layer_);
    ValueId value =
        layer_.add("Reshape", "_positions",
                   {product, layer_.constant("positions", integers(joined({{0, filters_}, out_})))}, {},
                   biased ? "_unbiased" : suffix);
    if (biased) value = layer_.add("Add", "_bias", {value, layer_.constant("bias", bias())}, {}, suffix);
    return {activate(layer_, image_result(layer_, x_, value, filters_, out_))};
  }

 private:
  // The picture with the zeros that windows reach over.
  ValueId surrounded() {
    if (!same_) return x_.tensor.value;
    std::vector<std::int64_t> pads(2 * (rank_ + 2), 0);
    for (std::size_t i = 0; i < rank_; ++i) {
      const std::int64_t reach = (out_[i] - 1) * stride_[i] + window_[i] - before_[i];
      pads[2 + i] = before_[i];
      pads[rank_ + 4 + i] = std::max<std::int64_t>(reach - x_.positions[i], 0);
    }
    return layer_.add("Pad", "_padded", {x_.tensor.value, layer_.constant("pads", integers(pads))},
                      {{"mode", std::string("constant")}}, "_padded");
  }

  // What all windows have at one offset: [n, 1, channels, positions].
  ValueId under(ValueId padded, const Shape& offset) {
    Shape ends, axes;
    for (std::size_t i = 0; i < rank_; ++i) {
      ends.push_back(offset[i] + (out_[i] - 1) * stride_[i] + 1);
      axes.push_back(static_cast<std::int64_t>(i) + 2);
    }
    const std::string name = fmt::format("offset_{}", place_in(window_, offset));
    const ValueId part =
        layer_.add("Slice", "_" + name,
                   {padded, layer_.constant(name + "_starts", integers(offset)),
                    layer_.constant(name + "_ends", integers(ends)), layer_.constant("axes", integers(axes)),
                    layer_.constant("steps", integers(stride_))},
                   {}, "_" + name);
    const ValueId flat = layer_.constant("flat", integers({0, 1, channels_, element_count(out_)}));
    return layer_.add("Reshape", "_" + name + "_flat", {part, flat}, {}, "_" + name + "_flat");
  }

  // Visits every weight: position, offset, the input position it reads and whether that is inside.
  void each_pair(
      const std::function<void(std::int64_t, std::int64_t, const Shape&, const Shape&, bool)>& visit) {
    each(out_, [&](const Shape& out) {
      each(window_, [&](const Shape& offset) {
        Shape in;
        bool inside = true;
        for (std::size_t i = 0; i < rank_; ++i) {
          in.push_back(out[i] * stride_[i] + offset[i] - before_[i]);
          inside = inside && in[i] >= 0 && in[i] < x_.positions[i];
        }
        visit(place_in(out_, out), place_in(window_, offset), out, in, inside);
      });
    });
  }

  // [positions, offsets, channels, filters], from any of the three ways in which Keras stores it.
  std::vector<float> kernel_by_position() {
    const std::int64_t offsets = element_count(window_), positions = element_count(out_);
    std::vector<float> result(positions * offsets * channels_ * filters_, 0.0F);
    const std::int64_t way = layer_.config().integer("implementation", 1);
    if (way < 1 || way > 3) layer_.invalid(fmt::format("has no implementation {}", way));
    if (way == 3) layer_.unsupported("implementation 3", "set implementation to 1 or 2 and save again");
    const Shape wide = first_ ? joined({{channels_}, x_.positions, {filters_}, out_})
                              : joined({x_.positions, {channels_}, out_, {filters_}});
    const Array stored =
        layer_.weight("kernel", way == 1 ? Shape{positions, offsets * channels_, filters_} : wide);
    const auto values = stored.as<float>();
    each_pair([&](std::int64_t p, std::int64_t k, const Shape& out, const Shape& in, bool inside) {
      if (!inside) return;
      for (std::int64_t c = 0; c < channels_; ++c) {
        for (std::int64_t f = 0; f < filters_; ++f) {
          const std::int64_t narrow =
              (p * offsets * channels_ + (first_ ? c * offsets + k : k * channels_ + c)) * filters_ + f;
          const std::int64_t at = way == 1 ? narrow
                                  : first_ ? place_in(wide, joined({{c}, in, {f}, out}))
                                           : place_in(wide, joined({in, {c}, out, {f}}));
          result[((p * offsets + k) * channels_ + c) * filters_ + f] = values[at];
        }
      }
    });
    return result;
  }

  // [filters, positions...]
  Array bias() {
    if (first_) return layer_.weight("bias", joined({{filters_}, out_}));
    std::vector<int> order{static_cast<int>(rank_)};
    for (int i = 0; i < static_cast<int>(rank_); ++i) order.push_back(i);
    return transposed(layer_.weight("bias", joined({out_, {filters_}})), order);
  }

  LayerBuilder& layer_;
  std::size_t rank_;
  Image x_;
  bool first_;  // Keras has the channels in front of the positions
  std::int64_t filters_, channels_;
  Shape window_, stride_;
  bool same_;
  Shape before_, out_;
};

}  // namespace

KerasTensors locally_connected(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return LocallyConnected(layer, inputs).build();
}

}  // namespace assay::keras
