// Procedural scenes: coloured, textured shapes on a grey ground, with the class of each pixel as another
// view of the same scenes (docs/algorithms/scenes.md). Record i depends on the seed and i alone.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <assay/error.h>
#include <assay/extend/data_format.h>
#include <assay/extend/random.h>
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::inline data {
namespace {

constexpr int scene_side = 32;
constexpr std::size_t shape_count = 5, texture_count = 2, colour_count = 6;

// The view of a scene: a picture, or for each pixel the code of a class, 0 for the ground.
enum class SceneView { picture, shapes, textures, colours };
const std::vector<std::string> scene_views{"picture", "shapes", "textures", "colours"};

const std::array<const char*, shape_count> shape_names{"circle", "square", "triangle", "cross", "ring"};
const std::array<const char*, texture_count> texture_names{"striped", "checked"};
// Red, green, blue, yellow, cyan, magenta.
constexpr std::array<std::array<double, 3>, colour_count> paint{
    {{1, .1, .1}, {.1, .8, .1}, {.15, .25, 1}, {.95, .9, .1}, {.1, .85, .9}, {.9, .15, .85}}};

struct SceneObject {
  std::size_t shape = 0, texture = 0, colour = 0;
  double x = 0, y = 0, radius = 0, angle = 0, phase = 0;

  // In its own frame, the shape fills about the circle of radius 1.
  bool covers(double px, double py) const {
    const double dx = (px - x) / radius, dy = (py - y) / radius;
    const double u = dx * std::cos(angle) + dy * std::sin(angle),
                 v = dy * std::cos(angle) - dx * std::sin(angle), r = u * u + v * v;
    switch (shape) {
      case 0:
        return r <= 1;
      case 1:
        return std::max(std::fabs(u), std::fabs(v)) <= 0.85;
      case 2:
        return v <= 0.7 && v >= -1 + 1.7 * std::fabs(u);
      case 3:
        return std::min(std::fabs(u), std::fabs(v)) <= 0.3 && std::max(std::fabs(u), std::fabs(v)) <= 1;
      default:
        return r <= 1 && r >= 0.3;
    }
  }
  // 1 on light parts of the texture, 0 on dark ones; parts are 2 pixels wide.
  double light(int px, int py) const {
    const int shift = static_cast<int>(phase * 4);
    const bool across = ((px + shift) / 2) % 2 == 0, down = ((py + shift) / 2) % 2 == 0;
    return texture == 0 ? across : across == down;
  }
};

class SceneSource final : public Source {
 public:
  SceneSource(std::size_t count, std::uint64_t seed, SceneView view)
      : count_(count), seed_(seed), view_(view) {}

  std::size_t size() const override { return count_; }
  Shape shape() const override {
    return view_ == SceneView::picture ? Shape{3, scene_side, scene_side} : Shape{scene_side, scene_side};
  }
  bool is_8bit() const override { return view_ == SceneView::picture; }
  std::optional<std::int64_t> label(std::size_t index) const override {
    const SceneObject first = objects_of(index)[0];
    return static_cast<std::int64_t>(first.shape * texture_count + first.texture);
  }
  std::vector<std::string> class_names() const override {
    std::vector<std::string> names;
    for (const char* shape : shape_names) {
      for (const char* texture : texture_names) names.push_back(std::string(texture) + " " + shape);
    }
    return names;
  }
  std::string format() const override { return "procedural scenes"; }

  void read(std::size_t index, void* out) const override {
    const std::vector<SceneObject> objects = objects_of(index);
    auto* const values = static_cast<float*>(out);
    Rng rng(seed_, {index, 2});
    const double ground = 90 + 60 * rng.uniform();
    for (int y = 0; y < scene_side; ++y) {
      for (int x = 0; x < scene_side; ++x) {
        const SceneObject* top = nullptr;
        for (const SceneObject& object : objects) {
          if (object.covers(x + .5, y + .5)) top = &object;
        }
        const int pixel = y * scene_side + x;
        if (view_ != SceneView::picture) {
          values[pixel] = static_cast<float>(code(top));
          continue;
        }
        for (int c = 0; c < 3; ++c) {
          const double value =
              top == nullptr ? ground : 255 * paint[top->colour][c] * (0.35 + 0.65 * top->light(x, y));
          values[c * scene_side * scene_side + pixel] =
              static_cast<float>(std::round(std::clamp(value + 12 * rng.normal(), 0.0, 255.0)));
        }
      }
    }
  }

 private:
  // The first, which is the class, is the larger one; where the second hides a part of it, it is on top.
  std::vector<SceneObject> objects_of(std::size_t index) const {
    Rng rng(seed_, {index, 1});
    std::vector<SceneObject> objects;
    for (std::size_t i = 0; i < 2; ++i) {
      SceneObject object;
      object.shape = rng.below(shape_count);
      object.texture = rng.below(texture_count);
      object.colour = rng.below(colour_count);
      object.radius = i == 0 ? 8.5 + 3 * rng.uniform() : 3.5 + 1.5 * rng.uniform();
      object.x = object.radius + (scene_side - 2 * object.radius) * rng.uniform();
      object.y = object.radius + (scene_side - 2 * object.radius) * rng.uniform();
      object.angle = 0.5 * (rng.uniform() - 0.5);
      object.phase = rng.uniform();
      objects.push_back(object);
    }
    return objects;
  }

  std::size_t code(const SceneObject* object) const {
    if (object == nullptr) return 0;
    return 1 + (view_ == SceneView::shapes     ? object->shape
                : view_ == SceneView::textures ? object->texture
                                               : object->colour);
  }

  std::size_t count_;
  std::uint64_t seed_;
  SceneView view_;
};

SceneView scene_view_of(const DataSpec& spec) {
  const std::string text = spec.text("show", scene_views[0]);
  const auto found = std::ranges::find(scene_views, text);
  if (found == scene_views.end())
    fail(Fault::usage, "data '{}': show={} is not one of {}{}", spec.path, text, support::joined(scene_views),
         did_you_mean(text, scene_views));
  return static_cast<SceneView>(found - scene_views.begin());
}

}  // namespace

FormatInfo scenes_format() {
  return {"scenes",
          "scenes:COUNT[,seed=S][,show=picture|shapes|textures|colours]: coloured, textured shapes drawn on "
          "demand, or the class of each of their pixels",
          {"show"},
          [](const std::filesystem::path& path, std::string_view) {
            return path.string().starts_with("scenes:");
          },
          [](const DataSpec& spec) -> std::unique_ptr<Source> {
            const std::string text = spec.path.starts_with("scenes:") ? spec.path.substr(7) : spec.path;
            const std::size_t count = number_of<std::size_t>(text).value_or(0);
            if (count < 1 || count > 100'000'000) {
              fail(Fault::usage, "data '{}': a count between 1 and 100000000 is needed, as in scenes:1000",
                   spec.path);
            }
            return std::make_unique<SceneSource>(count, static_cast<std::uint64_t>(spec.integer("seed", 1)),
                                                 scene_view_of(spec));
          }};
}

}  // namespace assay::inline data
