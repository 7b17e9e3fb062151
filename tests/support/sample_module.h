// SPDX-License-Identifier: Apache-2.0
// A module that uses every feature of the plain-data result of code generation.
#pragma once

#include "codegen/program/bundle.h"

namespace ingot::testing {

/// y[m, 64] = f(x[m, 64], w[64]) with two variants, a prepare program and all memories.
Module sample_module();

/// Facts that a compiler could have found for it.
CodeFacts sample_code();

/// A section of the sample module for one card.
BundleSection sample_section(std::string device, const std::string& arch, std::string cubin,
                             std::string ptx);

/// The manifest of a section, to be changed for this section alone.
Manifest& own_manifest(BundleSection& section);

} // namespace ingot::testing
