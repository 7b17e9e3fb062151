// SPDX-License-Identifier: Apache-2.0
// Writes the functors and operands of a kernel's stages: straight-line code, one line an op,
// calling the device library's functor of the op's name.
#pragma once

#include "codegen/access.h"
#include "codegen/names.h"
#include "codegen/stage_list.h"
#include "codegen/writer.h"
#include "ir/passes/ranges.h"

#include <map>
#include <string>
#include <vector>

namespace ingot {

/// A tensor that a kernel reads in a stage, as its struct is called and written.
struct OperandStruct {
  std::string name;
  size_t read = 0;
};

/// Where functors are evaluated: on a tile of the domain, or on one of a matmul's operand.
struct Frame {
  std::vector<Coordinate> coordinates; ///< batch and two more
  int64_t along = 2;                   ///< the coordinate along which one access takes several
  int64_t vec = 1;                     ///< adjacent elements of one access, at most
};

/// Named sizes and pointers that the chosen access widths rely on.
struct AccessNeeds {
  struct Alignment {
    ValueId value;
    int64_t bytes;
  };
  std::vector<Alignment> alignments;
  std::vector<std::pair<Dim, int64_t>> divisible;

  /// Notes an access of `vec` elements by `formula`.
  void add(ValueId value, DType dtype, const IndexFormula& formula, int64_t vec);
};

class FunctorWriter {
public:
  /// `pointer_names`: the Params member that holds each tensor in memory.
  FunctorWriter(const Graph& graph, const Ranges& ranges, const Group& group, Frame frame,
                const std::map<ValueId, std::string>& pointer_names, Names& names,
                AccessNeeds& needs)
      : graph_(graph), ranges_(ranges), group_(group), frame_(std::move(frame)),
        pointer_names_(pointer_names), names_(names), needs_(needs) {}

  /// Writes the operand structs that the functor needs and does not share with an earlier one,
  /// then the functor `name`, which yields `target` from the slots, under lines of `comment`.
  void write(CodeWriter& out, const std::string& name, const TileValue& target,
             const std::vector<TileValue>& slots, llvm::ArrayRef<std::string> comment = {});

  /// The struct names of reductions, by op; the emitter fills it as it goes.
  std::map<OpId, std::string> reduction_names;

private:
  struct Body {
    std::vector<std::string> lines;
    std::map<TileValue, std::string> known;
    std::vector<std::string> operands; ///< struct names
    std::vector<TileValue> slots;
    Names names;
  };
  /// Evaluates what a value is made of first, then the value.
  std::string evaluate_all(Body& body, const TileValue& target);
  /// Operands of an elementwise op that `body` has no name for yet.
  llvm::SmallVector<TileValue, 3> missing_operands(const Body& body, const TileValue& target) const;
  /// The code of a value whose operands are known.
  std::string evaluate(Body& body, const TileValue& target);
  std::string evaluate_read(Body& body, const TileValue& target);
  std::string evaluate_op(Body& body, OpId id, ValueId value);
  /// The call of the device library's functor for an op.
  std::string functor_call(const Op& op, ValueId value,
                           llvm::ArrayRef<std::string> arguments) const;
  /// The code of a value, rounded where Group::rounded says so.
  std::string rounded(ValueId value, const std::string& code) const;
  bool is_one(ValueId value) const;
  std::string evaluate_gather(Body& body, OpId id, ValueId value);
  void need_params(Body& body) const;
  std::string iota_code(const Read& read) const;
  std::vector<Coordinate> point_coordinates() const;
  const std::string& operand_struct(size_t read);
  std::string assign(Body& body, const TileValue& target, ValueId named, DType dtype,
                     const std::string& code);
  void write_operand(CodeWriter& out, const OperandStruct& operand);

  const Graph& graph_;
  const Ranges& ranges_;
  const Group& group_;
  const Frame frame_;
  const std::map<ValueId, std::string>& pointer_names_;
  Names& names_;
  AccessNeeds& needs_;
  std::map<size_t, std::string> structs_; ///< by read
  std::vector<OperandStruct> pending_;    ///< not written yet
};

/// True when a read's numbers are computed where it stands, not loaded.
bool is_computed_iota(const Graph& graph, const Read& read);

/// Along of a tensor: on which of the last two coordinates its elements depend.
std::string along_of(const IndexFormula& formula);

} // namespace ingot
