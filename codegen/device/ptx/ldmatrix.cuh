// SPDX-License-Identifier: Apache-2.0
// Loads matrices of 8 x 8 16-bit elements from shared memory to registers, with all lanes of a
// warp.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// Loads four matrices. In lane 8*i + r, `row` is the shared address of row r (16 bytes, aligned)
/// of matrix i. Lane l receives the elements 2*(l % 4) and 2*(l % 4) + 1 of row l / 4 of matrix i
/// in fragment[i].
INGOT_DEVICE void ldmatrix_x4(u32 (&fragment)[4], u32 row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(row)
               : "memory");
}

/// Like ldmatrix_x4, with each matrix transposed: lane l receives elements of column l / 4.
INGOT_DEVICE void ldmatrix_x4_trans(u32 (&fragment)[4], u32 row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(row)
               : "memory");
}

} // namespace ptx
} // namespace ingot
