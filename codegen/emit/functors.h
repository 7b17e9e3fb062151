// SPDX-License-Identifier: Apache-2.0
// Writes expressions over points as functors, and their reads as operands: straight-line code with
// one line per step. emit_body uses it.
#pragma once

#include "codegen/emit/spelling.h"
#include "codegen/emit/variant_numbers.h"
#include "codegen/program/identifiers.h"
#include "src/support/code_writer.h"

namespace ingot {

/// Writes `head`, then `items` separated by commas, then `tail`. Lines stay within kLineWidth.
void write_list(CodeWriter& out, const std::string& head, llvm::ArrayRef<std::string> items,
                const std::string& tail);

/// Writes `static INGOT_DEVICE head { return value; }`.
void write_function(CodeWriter& out, const std::string& head, const std::string& value);

/// The state that all code of one kernel shares.
struct EmitContext {
  const CodeSpelling& spell;
  const VariantNumbers& numbers;
  Names& types; ///< names of the structs
};

class FunctorWriter {
public:
  /// `widths` are those of the frame's reads. `stages` are the struct names of stages that yield
  /// results.
  FunctorWriter(const EmitContext& context, const PointFrame& frame,
                const PointCoordinates& coordinates, llvm::ArrayRef<VariantNumber> widths,
                const std::map<uint32_t, std::string>& stages)
      : context_(context), spell_(context.spell), frame_(frame), coordinates_(coordinates),
        widths_(widths), stages_(stages) {}

  /// Writes the operands of `expr` that no earlier functor of this writer has, then the functor
  /// `name` below lines of `comment`.
  void write(CodeWriter& out, const std::string& name, const PointExpr& expr,
             llvm::ArrayRef<std::string> comment = {});

  /// The struct of a read that a functor had.
  const std::string& operand(uint32_t read) const { return structs_.at(read); }

private:
  struct Body {
    std::vector<std::string> lines;
    std::vector<std::string> values;   ///< the code of each step
    std::vector<std::string> operands; ///< names of their structs
    Names names;
    bool has_params = false; ///< `p` is declared
  };
  void write_operand(CodeWriter& out, uint32_t read);
  std::string step(Body& body, const PointOp& op, int uses);
  std::string gather(Body& body, const GatherRead& gather, const std::string& position);
  std::string merged(const PointOp& op) const;
  /// The test that a point lies in the domain's rows, and the test for its columns.
  std::string row_is_inside() const;
  std::string column_is_inside() const;
  std::string local_name(const PointOp& op) const;

  const EmitContext context_;
  const CodeSpelling& spell_;
  const PointFrame& frame_;
  const PointCoordinates coordinates_;
  const llvm::ArrayRef<VariantNumber> widths_;
  const std::map<uint32_t, std::string>& stages_;
  std::map<uint32_t, std::string> structs_; ///< struct names by read
};

} // namespace ingot
