// Training records that something went wrong with on the way: light, contrast, dead pixels, something in
// front.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include <assay/error.h>
#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/data/data_choice.h"

namespace assay::mutation {
namespace {

const std::array<std::string, 4> corruptions{"brightness", "contrast", "salt-pepper", "occlusion"};

// [channels, places] of a record, elements in units of the valid range.
struct Picture {
  std::size_t channels = 1, height = 1, width = 1;
  std::vector<ElementRange> ranges;  // one a channel
  std::size_t places() const { return height * width; }
};

Picture picture_of(const Dataset& data) {
  const Shape& shape = data.record_shape();
  const auto size = [&](std::size_t axis) -> std::size_t { return shape[axis]; };
  Picture picture;
  if (shape.size() == 3) {
    picture = {.channels = size(0), .height = size(1), .width = size(2), .ranges = {}};
  } else {
    picture.width = element_count(shape);
  }
  for (std::size_t c = 0; c < picture.channels; ++c) picture.ranges.push_back(range_of(data, c));
  return picture;
}

void brighten(const Picture&, double amount, Rng&, std::span<float> units) {
  for (float& v : units) v = static_cast<float>(v + amount);
}

void flatten_contrast(const Picture& picture, double amount, Rng&, std::span<float> units) {
  for (std::size_t c = 0; c < picture.channels; ++c) {
    const auto channel = units.subspan(c * picture.places(), picture.places());
    double sum = 0;
    for (const float v : channel) sum += v;
    const double mean = sum / channel.size();
    for (float& v : channel) v = static_cast<float>((v - mean) * amount + mean);
  }
}

void salt_and_pepper(const Picture& picture, double amount, Rng& rng, std::span<float> units) {
  const auto wanted = static_cast<std::size_t>(amount * picture.places());
  const auto count = std::clamp<std::size_t>(wanted, 1, picture.places());  // a corrupted record differs
  for (const std::size_t place : rng.sample(picture.places(), count)) {
    const float value = rng.below(2) == 0 ? 0.0F : 1.0F;
    for (std::size_t c = 0; c < picture.channels; ++c) units[c * picture.places() + place] = value;
  }
}

// A rectangle of `amount` times the height and the width, somewhere inside, is dark.
void occlude(const Picture& picture, double amount, Rng& rng, std::span<float> units) {
  const auto edge = [&](std::size_t whole) {
    return std::clamp<std::size_t>(static_cast<std::size_t>(amount * whole + 0.5), 1, whole);
  };
  const std::size_t height = edge(picture.height), width = edge(picture.width);
  const std::size_t top = rng.below(picture.height - height + 1), left = rng.below(picture.width - width + 1);
  for (std::size_t c = 0; c < picture.channels; ++c)
    for (std::size_t y = top; y < top + height; ++y)
      for (std::size_t x = left; x < left + width; ++x)
        units[c * picture.places() + y * picture.width + x] = 0;
}

using Corruption = void (*)(const Picture&, double, Rng&, std::span<float>);

struct Kind {
  Corruption change;
  double amount;  // unless told otherwise
};

const Kind& kind_of(const SpecOptions& options) {
  static const std::map<std::string, Kind> table{{"brightness", {brighten, 0.15}},
                                                 {"contrast", {flatten_contrast, 0.4}},
                                                 {"salt-pepper", {salt_and_pepper, 0.05}},
                                                 {"occlusion", {occlude, 0.3}}};
  return table.at(options.word("kind", corruptions));
}

ProgramChange corrupt(const ProgramSite& site, Program& program) {
  const std::vector<std::size_t> chosen = chosen_records(site, *program.training);
  const Kind& kind = kind_of(site.options);
  const double amount = site.options.text("amount").empty() ? kind.amount : site.options.number("amount", 0);
  if (chosen.empty()) return {0, "no record is chosen"};
  alter(site, program, chosen, fmt::format("{} {}", site.options.text("kind"), amount),
        [picture = picture_of(*program.training), change = kind.change, amount](Rng& rng,
                                                                                std::span<float> values) {
          for (std::size_t i = 0; i < values.size(); ++i) {
            const auto [low, high] = picture.ranges[i / picture.places()];
            values[i] = (values[i] - low) / (high - low);
          }
          change(picture, amount, rng, values);
          for (std::size_t i = 0; i < values.size(); ++i) {
            const auto [low, high] = picture.ranges[i / picture.places()];
            values[i] = low + std::clamp(values[i], 0.0F, 1.0F) * (high - low);
          }
        });
  return {std::ssize(chosen), fmt::format("{} of {} records corrupted ({})", chosen.size(),
                                          program.training->size(), site.options.text("kind"))};
}

}  // namespace

OperatorInfo corruption_operator() {
  auto options = data_options("0.1", "that are corrupted");
  options.push_back({"kind", "brightness", "brightness, contrast, salt-pepper or occlusion"});
  options.push_back({"amount", "",
                     "strength: what is added (0.15), the factor of the contrast (0.4), the share of pixels "
                     "(0.05), the edges of what is in front (0.3 of height and width)"});
  return {.name = "corruption",
          .title = "corrupted features",
          .summary = "some training records suffered a natural corruption",
          .definition =
              "in units of the valid range (0 to 1 where the data declare none), and clipped to it: "
              "brightness adds the amount; contrast draws each channel to its mean, "
              "(x - mean) * amount + mean; salt-pepper sets floor(amount * pixels) pixels to the least "
              "or the greatest value; occlusion sets a rectangle somewhere to the least value",
          .limits = "needs numbers as inputs; records that are not pictures count as one row of pixels",
          .paper = "corruptions after Hendrycks, Dietterich, ICLR 2019",
          .level = OperatorInfo::Level::data,
          .options = std::move(options),
          .program = data_fault(needs_numbers, corrupt)};
}

}  // namespace assay::mutation
