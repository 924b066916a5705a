#pragma once

// Boxes that are found and boxes that are there: overlap, suppression, matching.

#include <cstdint>
#include <span>
#include <vector>

namespace assay::task {

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  double area() const;  // 0 where a side is before its opposite
};
// Of these sides around a middle.
Box around(double x, double y, double width, double height);
double intersection(const Box& a, const Box& b);
// Intersection over union (Jaccard, 1901); 0 for boxes without area.
double overlap(const Box& a, const Box& b);

struct Detection {
  Box box;
  std::int64_t of_class = 0;
  float score = 0;
  std::size_t source = 0;  // number of the box in the output
};

struct WantedBox {
  Box box;
  std::int64_t of_class = 0;
  bool ignored = false;  // a region where any number of detections of the class neither help nor hurt
};

// Non-maximum suppression of detections of one class: by falling score, without those that overlap one that
// is kept by more than `threshold`, at most `most`. A threshold of 1 keeps all. O(detections * most).
std::vector<Detection> suppressed(std::span<const Detection> detections, double threshold, std::size_t most);

// Detections by falling score, each with the wanted box that it overlaps most and no earlier one has, by at
// least the threshold, as COCO's evaluation does. An ignored region overlaps by the share of the detection
// that lies in it, matches any number, and only those that match nothing else; these do not count.
class Matching {
 public:
  // All of one class and one record. Both must outlive this.
  Matching(std::span<const Detection> detections, std::span<const WantedBox> wanted);
  // By detection: the position of its wanted box, or -1. O(detections * wanted).
  std::vector<int> at(double threshold) const;

 private:
  double overlap_of(std::size_t detection, std::size_t wanted) const;

  std::span<const WantedBox> wanted_;
  std::vector<std::size_t> order_;  // of wanted boxes: ignored ones last
  std::size_t detections_ = 0;
  std::vector<double> overlaps_;  // [detections, wanted]
};

}  // namespace assay::task
