#include <assay/training.h>

#include <assay/error.h>
#include "assay/support/text.h"
#include "assay/training/sequential.h"

namespace assay::training {
namespace {

// LeNets of the DeepImportance study (Gerasimou et al., ICSE 2020), after LeCun et al. 1998.
Graph lenet1() {
  return Sequential("lenet1", 1, 28)
      .conv("conv1", 4, 5, true)
      .relu()
      .max_pool()
      .conv("conv2", 12, 5, true)
      .relu()
      .max_pool()
      .flatten()
      .dense("logits", 10)
      .build();
}

Graph lenet4() {
  return Sequential("lenet4", 1, 28)
      .conv("conv1", 6, 5, true)
      .relu()
      .max_pool()
      .conv("conv2", 16, 5, true)
      .relu()
      .max_pool()
      .flatten()
      .dense("fc1", 84)
      .relu()
      .dense("logits", 10)
      .build();
}

Graph lenet5_named(const char* name) {
  return Sequential(name, 1, 28)
      .conv("conv1", 6, 5, true)
      .relu()
      .max_pool()
      .conv("conv2", 16, 5, true)
      .relu()
      .max_pool()
      .flatten()
      .dense("fc1", 120)
      .relu()
      .dense("fc2", 84)
      .relu()
      .dense("logits", 10)
      .build();
}
Graph lenet5() { return lenet5_named("lenet5"); }

// Networks A, B and C of DeepMutation (Ma et al., ISSRE 2018); A is LeNet-5.
Graph deepmutation_a() { return lenet5_named("deepmutation-a"); }

Graph deepmutation_b() {
  return Sequential("deepmutation-b", 1, 28)
      .conv("conv1", 32, 3, true)
      .relu()
      .conv("conv2", 32, 3, true)
      .relu()
      .max_pool()
      .conv("conv3", 64, 3, true)
      .relu()
      .conv("conv4", 64, 3, true)
      .relu()
      .max_pool()
      .flatten()
      .dense("fc1", 200)
      .relu()
      .dense("logits", 10)
      .build();
}

Graph deepmutation_c() {
  return Sequential("deepmutation-c", 3, 32)
      .conv("conv1", 64, 3, false)
      .relu()
      .conv("conv2", 64, 3, false)
      .relu()
      .max_pool()
      .conv("conv3", 128, 3, false)
      .relu()
      .conv("conv4", 128, 3, false)
      .relu()
      .max_pool()
      .flatten()
      .dense("fc1", 256)
      .relu()
      .dense("fc2", 256)
      .relu()
      .dense("logits", 10)
      .build();
}

// The 20-layer CIFAR-10 ConvNet of the DeepImportance study. The paper gives the number of layers and
// parameters; these widths without padding are the ones that give both.
Graph cifar_convnet() {
  return Sequential("cifar-convnet", 3, 32)
      .conv("conv1", 32, 3, false)
      .relu()
      .conv("conv2", 32, 3, false)
      .relu()
      .max_pool()
      .dropout(0.25F)
      .conv("conv3", 64, 3, false)
      .relu()
      .conv("conv4", 64, 3, false)
      .relu()
      .max_pool()
      .dropout(0.25F)
      .flatten()
      .dense("fc1", 512)
      .relu()
      .dropout(0.5F)
      .dense("fc2", 128)
      .relu()
      .dense("logits", 10)
      .build();
}

// NVIDIA's Dave-2 (Bojarski et al. 2016) as the driving study uses it: 100 x 100 frames, steering angle 2 *
// atan(x).
Graph dave2() {
  return Sequential("dave2", 3, 100)
      .conv("conv1", 24, 5, false, 2)
      .relu()
      .conv("conv2", 36, 5, false, 2)
      .relu()
      .conv("conv3", 48, 5, false, 2)
      .relu()
      .conv("conv4", 64, 3, false)
      .relu()
      .conv("conv5", 64, 3, false)
      .relu()
      .flatten()
      .dense("fc1", 1164)
      .relu()
      .dense("fc2", 100)
      .relu()
      .dense("fc3", 50)
      .relu()
      .dense("fc4", 10)
      .relu()
      .dense("angle", 1)
      .apply("Atan")
      .scale(2)
      .build();
}

Graph dave2_dropout() {
  return Sequential("dave2-dropout", 3, 100)
      .conv("conv1", 16, 3, false)
      .relu()
      .max_pool()
      .conv("conv2", 32, 3, false)
      .relu()
      .max_pool()
      .conv("conv3", 64, 3, false)
      .relu()
      .max_pool()
      .flatten()
      .dense("fc1", 500)
      .relu()
      .dropout(0.5F)
      .dense("fc2", 100)
      .relu()
      .dropout(0.25F)
      .dense("fc3", 20)
      .relu()
      .dense("angle", 1)
      .apply("Atan")
      .scale(2)
      .build();
}

}  // namespace

Catalogue<ArchitectureInfo>& architectures() {
  static const char* const importance = "Gerasimou et al., ICSE 2020";
  static const char* const mutation = "Ma et al., ISSRE 2018";
  static Catalogue<ArchitectureInfo> all(
      {"architecture"},
      {
          {"lenet1", "two convolutions, one dense layer", importance, 7206, {1, 28, 28}, lenet1},
          {"lenet4", "two convolutions, two dense layers", importance, 69362, {1, 28, 28}, lenet4},
          {"lenet5", "two convolutions, three dense layers", importance, 107786, {1, 28, 28}, lenet5},
          {"deepmutation-a", "LeNet-5", mutation, 107786, {1, 28, 28}, deepmutation_a},
          {"deepmutation-b",
           "four convolutions, two dense layers",
           mutation,
           694402,
           {1, 28, 28},
           deepmutation_b},
          {"deepmutation-c",
           "four convolutions, three dense layers, for CIFAR-10",
           mutation,
           1147978,
           {3, 32, 32},
           deepmutation_c},
          {"cifar-convnet",
           "four convolutions with dropout, for CIFAR-10",
           importance,
           952234,
           {3, 32, 32},
           cifar_convnet},
          {"dave2",
           "five convolutions, five dense layers, steering angle of a frame",
           "Bojarski et al. 2016; Gerasimou et al., ICSE 2020",
           2116983,
           {3, 100, 100},
           dave2},
          {"dave2-dropout",
           "three convolutions with max pooling, four dense layers with dropout, steering angle of a frame",
           "Pei et al., DeepXplore, SOSP 2017 (Dave-dropout)",
           3276225,
           {3, 100, 100},
           dave2_dropout},
      });
  return all;
}

}  // namespace assay::training
