#include "assay/task/detector_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <assay/error.h>
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::task {
namespace {

// Options of a form under the name of networks that have it.
using Preset = std::map<std::string, std::string>;

// Of outputs that options describe.
const Preset& usual_values() {
  static const Preset usual = {{"layout", "rows"},       {"boxes", "xyxy"},      {"normalised", "no"},
                               {"score", "probability"}, {"background", "none"}, {"labels", "all"},
                               {"first", "0"},           {"nms", "none"},        {"strides", ""},
                               {"anchors", ""},          {"variances", "1+1"}};
  return usual;
}

const std::map<std::string, Preset>& presets() {
  const auto with = [](Preset own) {
    own.insert(usual_values().begin(), usual_values().end());
    return own;
  };
  static const std::map<std::string, Preset> all = {
      {"yolo5", with({{"parts", "box+objectness+scores"}, {"boxes", "cxcywh"}, {"nms", "0.6"}})},
      {"yolox", with({{"parts", "box+objectness+scores"},
                      {"boxes", "cells"},
                      {"strides", "8+16+32"},
                      {"nms", "0.65"}})},
      {"yolo5-heads", with({{"parts", "box+objectness+scores"},
                            {"layout", "columns"},
                            {"boxes", "grid"},
                            {"score", "sigmoid"},
                            {"strides", "8+16+32"},
                            {"nms", "0.6"}})},
      {"yolo3-heads", with({{"parts", "box+objectness+scores"},
                            {"layout", "columns"},
                            {"boxes", "darknet"},
                            {"score", "sigmoid"},
                            {"strides", "8+16+32"},
                            {"nms", "0.45"}})},
      {"yolo8", with({{"parts", "box+scores"}, {"layout", "columns"}, {"boxes", "cxcywh"}, {"nms", "0.7"}})},
      {"yolo10", with({{"parts", "box+score+number"}})},
      {"ssd", with({{"parts", "box/scores"},
                    {"normalised", "yes"},
                    {"background", "first"},
                    {"nms", "0.45"},
                    {"variances", "0.1+0.2"}})},
      {"retinanet", with({{"parts", "box/scores"}, {"nms", "0.5"}})},
      {"detr", with({{"parts", "box/scores"},
                     {"boxes", "cxcywh"},
                     {"normalised", "yes"},
                     {"score", "softmax"},
                     {"background", "last"},
                     {"labels", "best"}})},
      {"torchvision", with({{"parts", "box/number/score"}, {"first", "1"}})},
      {"tensorflow",
       with({{"parts", "box/number/score"}, {"boxes", "yxyx"}, {"normalised", "yes"}, {"first", "1"}})}};
  return all;
}

// Names of values of an enumeration, in its order.
template <typename Kind>
Kind kind_named(const SpecOptions& options, const std::string& option, const std::string& name,
                const std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    fail(Fault::usage, "{}: {}={} is none of {}", options.owner(), option, name, fmt::join(names, ", "));
  return static_cast<Kind>(found - names.begin());
}

const std::vector<std::string> yes_or_no = {"no", "yes"},
                               part_names = {"box", "objectness", "scores", "score", "number", "skip"},
                               corner_names = {"xyxy",  "xywh",    "cxcywh", "yxyx",
                                               "cells", "offsets", "grid",   "darknet"};

// What users say, and the preset's values for the rest.
class FormReader {
 public:
  FormReader(const SpecOptions& options, const Preset& preset) : options_(options), preset_(preset) {}

  DetectorForm form() const {
    DetectorForm form = as_given();
    if (form.has_cells() && !options_.text("normalised").empty())
      fail(Fault::usage, "{}: normalised= has no effect with boxes={}", options_.owner(), text("boxes"));
    if (!form.has_heads()) return form;
    if (form.parts.size() != 1 || form.scores == ScoreKind::softmax)
      fail(Fault::usage,
           "{}: boxes={} are of outputs with the same parts, and of score=sigmoid or probability",
           options_.owner(), text("boxes"));
    if (form.sides.size() % form.strides.size() != 0)
      fail(Fault::usage, "{}: {} holds {} anchors, which are not as many for each of {} grids (strides={})",
           options_.owner(), text("anchors"), form.sides.size(), form.strides.size(), text("strides"));
    return form;
  }

 private:
  DetectorForm as_given() const {
    return {.parts = parts(),
            .columns = kind<bool>("layout", {"rows", "columns"}),
            .corners = kind<Corners>("boxes", corner_names),
            .normalised = kind<bool>("normalised", yes_or_no),
            .scores = kind<ScoreKind>("score", {"probability", "sigmoid", "softmax"}),
            .background = kind<Background>("background", {"none", "first", "last"}),
            .all_labels = kind<bool>("labels", {"best", "all"}),
            .first = static_cast<std::int64_t>(std::llround(number("first", 0, 1e6))),
            .strides = strides(),
            .anchors = anchors(),
            .sides = sides(),
            .variances = variances(),
            .suppression = text("nms") == "none" ? 1 : number("nms", 0, 1)};
  }

  const std::string& text(const std::string& option) const {
    const std::string& given = options_.text(option);
    return given.empty() ? preset_.at(option) : given;
  }
  template <typename Kind>
  Kind kind(const std::string& option, const std::vector<std::string>& names) const {
    return kind_named<Kind>(options_, option, text(option), names);
  }
  double number(const std::string& option, double least, double most) const {
    const auto value = number_of<double>(text(option));
    if (!value || *value < least || *value > most)
      fail(Fault::usage, "{}: {}={} is not a number from {:g} to {:g}", options_.owner(), option,
           text(option), least, most);
    return *value;
  }

  std::vector<std::int64_t> strides() const {
    const std::string& given = text("strides");
    if ((text("boxes") == "cells" || of_heads()) != !given.empty())
      fail(Fault::usage,
           "{}: boxes=cells, grid or darknet and strides= belong together, such as "
           "boxes=cells,strides=8+16+32",
           options_.owner());
    return given.empty() ? std::vector<std::int64_t>()
                         : parse_positive(given, '+', options_.owner() + ": strides", "8+16+32");
  }

  std::vector<Box> anchors() const {
    const std::string& file = text("anchors");
    if ((text("boxes") == "offsets" || of_heads()) != !file.empty())
      fail(Fault::usage, "{}: boxes=offsets, grid or darknet and anchors=FILE belong together",
           options_.owner());
    return file.empty() || of_heads() ? std::vector<Box>() : anchors_in(file);
  }

  std::vector<AnchorSides> sides() const {
    return of_heads() && !text("anchors").empty() ? anchor_sides_in(text("anchors"))
                                                  : std::vector<AnchorSides>();
  }

  bool of_heads() const { return text("boxes") == "grid" || text("boxes") == "darknet"; }

  Variances variances() const {
    if (!options_.text("variances").empty() && text("boxes") != "offsets")
      fail(Fault::usage, "{}: variances= has no effect without boxes=offsets", options_.owner());
    std::vector<double> factors;
    for (const std::string& part : parts_of(text("variances"), "+"))
      factors.push_back(number_of<double>(part).value_or(0));
    if (factors.size() != 2 || !(std::ranges::min(factors) > 0))
      fail(Fault::usage,
           "{}: variances={} are not two factors above 0, of middles and sides, such as 0.1+0.2",
           options_.owner(), text("variances"));
    return {factors[0], factors[1]};
  }

  std::vector<std::vector<BoxPart>> parts() const {
    std::vector<std::vector<BoxPart>> all;
    std::array<int, 6> counts{};
    for (const std::string& output : parts_of(text("parts"), "/")) {
      all.emplace_back();
      for (const std::string& name : parts_of(output, "+")) {
        all.back().push_back(kind_named<BoxPart>(options_, "parts", name, part_names));
        ++counts[static_cast<std::size_t>(all.back().back())];
      }
    }
    const auto [box, objectness, scores, score, number, skip] = counts;
    if (box != 1 || objectness > 1 || scores + score != 1 || number != score)
      fail(Fault::usage,
           "{}: parts={} needs one box, and scores or a score with the number of its class; + stands between "
           "numbers of a box, / between outputs",
           options_.owner(), text("parts"));
    return all;
  }

  const SpecOptions& options_;
  const Preset& preset_;
};

}  // namespace

std::vector<std::string> detector_formats() {
  std::vector<std::string> names;
  for (const auto& [name, options] : presets()) names.push_back(name);
  return names;
}

DetectorForm form_of(const SpecOptions& options, const std::string& format) {
  const auto preset = presets().find(format);
  return FormReader(options, preset == presets().end() ? usual_values() : preset->second).form();
}

const std::string& name_of(BoxPart part) { return part_names[static_cast<std::size_t>(part)]; }
const std::string& name_of(Corners corners) { return corner_names[static_cast<std::size_t>(corners)]; }

}  // namespace assay::task
