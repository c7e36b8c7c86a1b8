// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "core/machine/gpu_models.hpp"

#include <algorithm>
#include <array>

namespace lanewise {

namespace {

constexpr std::uint16_t nvidia_vendor = 0x10de;
constexpr auto no = NvlinkAbility::no;
constexpr auto yes = NvlinkAbility::yes;

// Ids and names: the PCI ID Project's list of 2026-08-22, checked against the supported GPUs that
// NVIDIA's open kernel modules name in their README (595.45.04, 2026-03-05), where those have it.
// Neither tells NVLink: that is what is publicly known of the cards (of the RTX 30 series only the
// 3090s have it, of Ada and GB20x none); a card in doubt is left out and so unknown.
constexpr std::array models = {
    GpuModel{0x102d, "Tesla K80", 37, no},
    GpuModel{0x15f7, "Tesla P100-PCIE-12GB", 60, no},
    GpuModel{0x15f8, "Tesla P100-PCIE-16GB", 60, no},
    GpuModel{0x15f9, "Tesla P100-SXM2-16GB", 60, yes},
    GpuModel{0x1b38, "Tesla P40", 61, no},
    GpuModel{0x1bb3, "Tesla P4", 61, no},
    GpuModel{0x1db1, "Tesla V100-SXM2-16GB", 70, yes},
    GpuModel{0x1db2, "Tesla V100-DGXS-16GB", 70, yes},
    GpuModel{0x1db4, "Tesla V100-PCIE-16GB", 70, no},
    GpuModel{0x1db5, "Tesla V100-SXM2-32GB", 70, yes},
    GpuModel{0x1db6, "Tesla V100-PCIE-32GB", 70, no},
    GpuModel{0x1db7, "Tesla V100-DGXS-32GB", 70, yes},
    GpuModel{0x1db8, "Tesla V100-SXM3-32GB", 70, yes},
    GpuModel{0x1dba, "Quadro GV100", 70, yes},
    GpuModel{0x1df5, "Tesla V100-SXM2-16GB", 70, yes},
    GpuModel{0x1df6, "Tesla V100S-PCIE-32GB", 70, no},
    GpuModel{0x1e02, "TITAN RTX", 75, yes},
    GpuModel{0x1e04, "GeForce RTX 2080 Ti", 75, yes},
    GpuModel{0x1e07, "GeForce RTX 2080 Ti", 75, yes},
    GpuModel{0x1e30, "Quadro RTX 6000/8000", 75, yes},
    GpuModel{0x1e36, "Quadro RTX 6000", 75, yes},
    GpuModel{0x1e78, "Quadro RTX 6000/8000", 75, yes},
    GpuModel{0x1e81, "GeForce RTX 2080 SUPER", 75, yes},
    GpuModel{0x1e82, "GeForce RTX 2080", 75, yes},
    GpuModel{0x1e87, "GeForce RTX 2080", 75, yes},
    GpuModel{0x1eb0, "Quadro RTX 5000", 75, yes},
    GpuModel{0x1eb8, "Tesla T4", 75, no},
    GpuModel{0x20b0, "A100-SXM4-40GB", 80, yes},
    GpuModel{0x20b1, "A100-PCIE-40GB", 80, yes},
    GpuModel{0x20b2, "A100-SXM4-80GB", 80, yes},
    GpuModel{0x20b3, "A100-SXM-64GB", 80, yes},
    GpuModel{0x20b5, "A100 80GB PCIe", 80, yes},
    GpuModel{0x20b7, "A30", 80, yes},
    GpuModel{0x20b8, "A100X", 80, yes},
    GpuModel{0x20b9, "A30X", 80, yes},
    GpuModel{0x20bd, "A800-SXM4-40GB", 80, yes},
    GpuModel{0x20f1, "A100-PCIE-40GB", 80, yes},
    GpuModel{0x20f3, "A800-SXM4-80GB", 80, yes},
    GpuModel{0x20f5, "A800 80GB PCIe", 80, yes},
    GpuModel{0x20f6, "A800 40GB Active", 80, yes},
    GpuModel{0x20fd, "AX800", 80, yes},
    GpuModel{0x2203, "GeForce RTX 3090 Ti", 86, yes},
    GpuModel{0x2204, "GeForce RTX 3090", 86, yes},
    GpuModel{0x2206, "GeForce RTX 3080", 86, no},
    GpuModel{0x2208, "GeForce RTX 3080 Ti", 86, no},
    GpuModel{0x220a, "GeForce RTX 3080 12GB", 86, no},
    GpuModel{0x2216, "GeForce RTX 3080", 86, no},
    GpuModel{0x2230, "RTX A6000", 86, yes},
    GpuModel{0x2231, "RTX A5000", 86, yes},
    GpuModel{0x2232, "RTX A4500", 86, yes},
    GpuModel{0x2233, "RTX A5500", 86, yes},
    GpuModel{0x2235, "A40", 86, yes},
    GpuModel{0x2236, "A10", 86, no},
    GpuModel{0x2237, "A10G", 86, no},
    GpuModel{0x2313, "H100 CNX", 90, yes},
    GpuModel{0x2321, "H100 NVL", 90, yes},
    GpuModel{0x2322, "H800 PCIe", 90, yes},
    GpuModel{0x2324, "H800", 90, yes},
    GpuModel{0x2329, "H20", 90, yes},
    GpuModel{0x232c, "H20-3e", 90, yes},
    GpuModel{0x2330, "H100 80GB HBM3", 90, yes},
    GpuModel{0x2331, "H100 PCIe", 90, yes},
    GpuModel{0x2335, "H200", 90, yes},
    GpuModel{0x2339, "H100", 90, yes},
    GpuModel{0x233a, "H800 NVL", 90, yes},
    GpuModel{0x233b, "H200 NVL", 90, yes},
    GpuModel{0x2342, "GH200 480GB", 90, yes},
    GpuModel{0x2348, "GH200 144G HBM3e", 90, yes},
    GpuModel{0x2482, "GeForce RTX 3070 Ti", 86, no},
    GpuModel{0x2484, "GeForce RTX 3070", 86, no},
    GpuModel{0x24b0, "RTX A4000", 86, no},
    GpuModel{0x2503, "GeForce RTX 3060", 86, no},
    GpuModel{0x2531, "RTX A2000", 86, no},
    GpuModel{0x2571, "RTX A2000 12GB", 86, no},
    GpuModel{0x25b6, "A2/A16", 86, no},
    GpuModel{0x2684, "GeForce RTX 4090", 89, no},
    GpuModel{0x2685, "GeForce RTX 4090 D", 89, no},
    GpuModel{0x26b1, "RTX 6000 Ada Generation", 89, no},
    GpuModel{0x26b2, "RTX 5000 Ada Generation", 89, no},
    GpuModel{0x26b3, "RTX 5880 Ada Generation", 89, no},
    GpuModel{0x26b5, "L40", 89, no},
    GpuModel{0x26b8, "L40G", 89, no},
    GpuModel{0x26b9, "L40S", 89, no},
    GpuModel{0x26ba, "L20", 89, no},
    GpuModel{0x2702, "GeForce RTX 4080 SUPER", 89, no},
    GpuModel{0x2704, "GeForce RTX 4080", 89, no},
    GpuModel{0x2705, "GeForce RTX 4070 Ti SUPER", 89, no},
    GpuModel{0x2782, "GeForce RTX 4070 Ti", 89, no},
    GpuModel{0x2783, "GeForce RTX 4070 SUPER", 89, no},
    GpuModel{0x2786, "GeForce RTX 4070", 89, no},
    GpuModel{0x27b0, "RTX 4000 SFF Ada Generation", 89, no},
    GpuModel{0x27b1, "RTX 4500 Ada Generation", 89, no},
    GpuModel{0x27b2, "RTX 4000 Ada Generation", 89, no},
    GpuModel{0x27b6, "L2", 89, no},
    GpuModel{0x27b8, "L4", 89, no},
    GpuModel{0x2803, "GeForce RTX 4060 Ti", 89, no},
    GpuModel{0x2805, "GeForce RTX 4060 Ti 16GB", 89, no},
    GpuModel{0x2901, "B200", 100, yes},
    GpuModel{0x2941, "GB200", 100, yes},
    GpuModel{0x2b85, "GeForce RTX 5090", 120, no},
    GpuModel{0x2b87, "GeForce RTX 5090 D", 120, no},
    GpuModel{0x2b8c, "GeForce RTX 5090 D v2", 120, no},
    GpuModel{0x2bb1, "RTX PRO 6000 Blackwell Workstation Edition", 120, no},
    GpuModel{0x2bb3, "RTX PRO 5000 Blackwell", 120, no},
    GpuModel{0x2bb4, "RTX PRO 6000 Blackwell Max-Q Workstation Edition", 120, no},
    GpuModel{0x2bb5, "RTX PRO 6000 Blackwell Server Edition", 120, no},
    GpuModel{0x2bb9, "RTX 6000D", 120, no},
    GpuModel{0x2c02, "GeForce RTX 5080", 120, no},
    GpuModel{0x2c05, "GeForce RTX 5070 Ti", 120, no},
    GpuModel{0x2c31, "RTX PRO 4500 Blackwell", 120, no},
    GpuModel{0x2c33, "RTX PRO 4000 Blackwell SFF Edition", 120, no},
    GpuModel{0x2c34, "RTX PRO 4000 Blackwell", 120, no},
    GpuModel{0x2c3a, "RTX PRO 4500 Blackwell Server Edition", 120, no},
    GpuModel{0x2d04, "GeForce RTX 5060 Ti", 120, no},
    GpuModel{0x2d05, "GeForce RTX 5060", 120, no},
    GpuModel{0x2d30, "RTX PRO 2000 Blackwell", 120, no},
    GpuModel{0x2e12, "GB10", 121, no},
    GpuModel{0x2f04, "GeForce RTX 5070", 120, no},
    GpuModel{0x3182, "B300", 103, yes},
    GpuModel{0x31c2, "GB300", 103, yes},
};
static_assert(std::ranges::is_sorted(models, {}, &GpuModel::device));

struct ChipRange {
  std::uint16_t first;
  std::uint16_t last;
  NvlinkAbility nvlink;
};

// Device ids are handed out a chip at a time. "no" only where the lists show chips without NVLink
// alone: GA102 (22xx) is on cards with and without a bridge, so it has no range.
constexpr std::array chips = {
    ChipRange{0x2080, 0x20ff, yes},  // GA100
    ChipRange{0x2300, 0x23ff, yes},  // GH100
    ChipRange{0x2480, 0x25ff, no},   // GA104, GA106, GA107
    ChipRange{0x2680, 0x28ff, no},   // AD102, AD103, AD104, AD106, AD107
    ChipRange{0x2900, 0x29ff, yes},  // GB100, GB102
    ChipRange{0x2b80, 0x2c7f, no},   // GB202, GB203
    ChipRange{0x2d00, 0x2dff, no},   // GB206, GB207
    ChipRange{0x2f00, 0x2f7f, no},   // GB205
    ChipRange{0x3180, 0x31ff, yes},  // GB110
};

}  // namespace

std::optional<GpuModel> find_gpu_model(std::uint16_t device) noexcept {
  const auto found = std::ranges::lower_bound(models, device, {}, &GpuModel::device);
  if (found == models.end() || found->device != device) return std::nullopt;
  return *found;
}

NvlinkAbility find_nvlink_ability(std::uint16_t vendor, std::uint16_t device) noexcept {
  if (vendor != nvidia_vendor) return no;
  if (const auto model = find_gpu_model(device)) return model->nvlink;
  for (const auto& chip : chips) {
    if (chip.first <= device && device <= chip.last) return chip.nvlink;
  }
  return NvlinkAbility::unknown;
}

}  // namespace lanewise
