// SPDX-License-Identifier: Apache-2.0
/* Ingot's C interface: the same library as ingot.h, for C99 and for languages that call C.
 *
 * - A function that can fail returns an ingot_code; 0 is success. If it fails and `error` is not
 *   null, it sets *error to an object with the message, which the caller frees. On success it
 *   leaves *error alone. No function throws, prints or ends the process. If memory runs out, the
 *   code is INGOT_OUT_OF_MEMORY; its error object needs no memory, and the call frees everything
 *   that it allocated. A builder keeps this error like any other.
 * - Graphs, builders, programs and GPUs are handles, each with its own free function. A handle that
 *   was freed, or is of another kind, gives INGOT_INVALID_ARGUMENT. Freeing null does nothing.
 * - Structs begin with `struct_size`. Set it to sizeof the struct, and unused fields to 0, as
 *   `{.struct_size = sizeof(ingot_options)}` does. A program built with an older header than the
 *   library's works. One built with a newer header works while it uses nothing that the library
 *   lacks.
 * - Strings are UTF-8 and end with 0; paths may hold any bytes. A pointer that a query returns is
 *   valid as long as the queried object.
 * - Several threads may use an object at once. Exceptions are builders, and an object that is being
 *   freed. */
#ifndef INGOT_C_H
#define INGOT_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/** The version of this interface. It rises with each addition. */
#define INGOT_ABI_VERSION 6

/** The library's version, e.g. "0.1.0". */
const char* ingot_version(void);
/** INGOT_ABI_VERSION of the library. */
int32_t ingot_abi_version(void);

/* ---- Errors ---------------------------------------------------------------------------------- */

typedef int32_t ingot_code;
enum {
  INGOT_OK = 0,
  INGOT_INVALID_ARGUMENT = 1, /**< an argument is wrong */
  INGOT_PARSE_ERROR = 2,      /**< a spec or a bundle cannot be parsed */
  INGOT_TYPE_ERROR = 3,       /**< the types or shapes of operands do not fit together */
  INGOT_UNSUPPORTED = 4,      /**< legal, but this version has no kernel for it */
  INGOT_UNAVAILABLE = 5,      /**< a GPU, the driver or NVRTC is missing */
  INGOT_IO_ERROR = 6,         /**< a file cannot be read or written */
  INGOT_COMPILE_ERROR = 7,    /**< NVRTC refused generated code */
  INGOT_LAUNCH_ERROR = 8,     /**< the driver refused a load or a launch */
  INGOT_INTERNAL = 9,         /**< a bug in Ingot */
  INGOT_NOT_PREPARED = 10,    /**< prepare has not seen these sizes, these params or this device */
  INGOT_OUT_OF_MEMORY = 11    /**< the process ran out of memory */
};

/** "ok", "invalid_argument" and so on; "unknown" for any other number. */
const char* ingot_code_name(ingot_code code);

/** An error. Its message names the problem, its place, the value expected, the value given, and a
 * remedy. */
typedef struct ingot_error ingot_error;
const char* ingot_error_message(const ingot_error* error);
ingot_code ingot_error_code(const ingot_error* error);
void ingot_error_free(ingot_error* error);

/** Bytes that a call returns. A 0 follows the last one; `size` does not count it. */
typedef struct ingot_bytes ingot_bytes;
const char* ingot_bytes_data(const ingot_bytes* bytes);
size_t ingot_bytes_size(const ingot_bytes* bytes);
void ingot_bytes_free(ingot_bytes* bytes);

/* ---- Graphs ---------------------------------------------------------------------------------- */

typedef int32_t ingot_type;
enum { INGOT_F32 = 0, INGOT_F16 = 1, INGOT_BF16 = 2, INGOT_I32 = 3, INGOT_I64 = 4, INGOT_BOOL = 5 };

/** A graph: immutable. */
typedef struct ingot_graph ingot_graph;

/** Reads one graph spec of `size` bytes. Messages call it `file_name`; null: "<spec>". */
ingot_code ingot_graph_parse(const char* text, size_t size, const char* file_name,
                             ingot_graph** graph, ingot_error** error);
ingot_code ingot_graph_parse_file(const char* path, ingot_graph** graph, ingot_error** error);
/** The graph in the text language, in its canonical primitive form. */
ingot_code ingot_graph_text(const ingot_graph* graph, ingot_bytes** text, ingot_error** error);
void ingot_graph_free(ingot_graph* graph);

/** All functions of the text language as a JSON array, ordered by name. Each has a "name", a
 * "summary" (empty for elementwise primitives) and "parameters". Each parameter has a "name", a
 * "kind" (tensor, tensors, number, integer, boolean, text, dtype, axis, axes, ints or dims) and,
 * unless it is required, a "default". The default is null where the argument may be left out. */
ingot_code ingot_functions(ingot_bytes** json, ingot_error** error);

/** Appends operators to a graph. The first error stays until ingot_builder_finish returns it, so
 * calls before that need no check. ingot_builder_forget_error clears it. One thread at a time may
 * use a builder. */
typedef struct ingot_builder ingot_builder;

/** A value of a builder. */
typedef struct ingot_value {
  uint32_t id;
} ingot_value;

/** One extent of a shape. `name`, if not null, is a named dimension or a product such as "2*m".
 * Otherwise the extent is `number`. */
typedef struct ingot_extent {
  int64_t number;
  const char* name;
} ingot_extent;

typedef int32_t ingot_argument_kind;
enum {
  INGOT_ARGUMENT_NONE = 0,
  INGOT_ARGUMENT_VALUE = 1,
  INGOT_ARGUMENT_INTEGER = 2,
  INGOT_ARGUMENT_REAL = 3,
  INGOT_ARGUMENT_BOOL = 4,   /**< in `integer` */
  INGOT_ARGUMENT_TYPE = 5,   /**< an ingot_type, in `integer` */
  INGOT_ARGUMENT_EXTENT = 6, /**< an extent of names, in `text` */
  INGOT_ARGUMENT_TEXT = 7,
  INGOT_ARGUMENT_LIST = 8
};

/** An argument of an operator. It goes by position if `name` is null, else by name. */
typedef struct ingot_argument {
  const char* name;
  ingot_argument_kind kind;
  ingot_value value;
  int64_t integer;
  double real;
  const char* text;
  const struct ingot_argument* list;
  size_t list_size;
} ingot_argument;

/** A tensor or a value as the graph declares it; a value has an empty name. */
typedef struct ingot_tensor_info {
  size_t struct_size;
  const char* name;
  ingot_type type;
  int32_t rank;
  const ingot_extent* shape; /**< `rank` of them; a named one has the number -1 */
} ingot_tensor_info;

typedef int32_t ingot_role;
enum { INGOT_INPUT = 0, INGOT_PARAM = 1, INGOT_OUTPUT = 2 };

/** The number of tensors of a role. */
ingot_code ingot_graph_count(const ingot_graph* graph, ingot_role role, size_t* count,
                             ingot_error** error);
/** Tensors stand in the order of the graph's declarations. */
ingot_code ingot_graph_tensor(const ingot_graph* graph, ingot_role role, size_t index,
                              ingot_tensor_info* info, ingot_error** error);

/** Warnings about a spec that was parsed: inputs, params and values that no result needs, comments
 * that look like code. Each text begins with `file:line:column: warning: ` and lives as long as the
 * graph. A graph from a builder has none. Since interface 5. */
ingot_code ingot_graph_warning_count(const ingot_graph* graph, size_t* count, ingot_error** error);
ingot_code ingot_graph_warning(const ingot_graph* graph, size_t index, const char** text,
                               ingot_error** error);

ingot_code ingot_builder_create(const char* graph_name, ingot_builder** builder,
                                ingot_error** error);
/** An input is a tensor that every launch receives. A param is a tensor that outlives launches. */
ingot_code ingot_builder_input(ingot_builder* builder, const char* name, ingot_type type,
                               const ingot_extent* shape, size_t rank, ingot_value* value,
                               ingot_error** error);
ingot_code ingot_builder_param(ingot_builder* builder, const char* name, ingot_type type,
                               const ingot_extent* shape, size_t rank, ingot_value* value,
                               ingot_error** error);
ingot_code ingot_builder_constant(ingot_builder* builder, ingot_type type, double number,
                                  ingot_value* value, ingot_error** error);
/** Appends any operator of the text language by its name. Lists may be nested 8 deep and hold 2^20
 * arguments in all. Stores up to `capacity` results. *count, unless `count` is null, receives the
 * number of results. */
ingot_code ingot_builder_call(ingot_builder* builder, const char* op,
                              const ingot_argument* arguments, size_t num_arguments,
                              ingot_value* results, size_t capacity, size_t* count,
                              ingot_error** error);
/** `x[items]` of the text language. An item is a position (an integer), a range (a list of start,
 * stop and step; each may be INGOT_ARGUMENT_NONE), a new axis (INGOT_ARGUMENT_NONE), or the text
 * "...". Since interface 5. */
ingot_code ingot_builder_index(ingot_builder* builder, ingot_value x, const ingot_argument* items,
                               size_t num_items, ingot_value* result, ingot_error** error);
/** The element type and the shape of a value; the name is empty. The arrays behind `info` live as
 * long as the builder. */
ingot_code ingot_builder_describe(ingot_builder* builder, ingot_value value,
                                  ingot_tensor_info* info, ingot_error** error);
ingot_code ingot_builder_output(ingot_builder* builder, const char* name, ingot_value value,
                                ingot_error** error);
/** Clears the error. The graph is as it was before the failed call. That call and the calls after
 * it added nothing; their results are not values of the graph. Since interface 6. */
ingot_code ingot_builder_forget_error(ingot_builder* builder, ingot_error** error);
/** The graph built so far, or the first error. */
ingot_code ingot_builder_finish(const ingot_builder* builder, ingot_graph** graph,
                                ingot_error** error);
void ingot_builder_free(ingot_builder* builder);

/* ---- Programs -------------------------------------------------------------------------------- */

typedef int32_t ingot_precision;
enum { /* accuracy of f32 products; docs/precision.md */
       INGOT_HIGHEST = 0,
       INGOT_PEDANTIC = 1,
       INGOT_HIGH = 2,
       INGOT_MEDIUM = 3
};

typedef int32_t ingot_math;
enum { /* the rewrites that the compiler may apply */
       INGOT_MATH_RELAXED = 0,
       INGOT_MATH_STRICT = 1,
       INGOT_MATH_FINITE = 2
};

typedef struct ingot_options {
  size_t struct_size;
  const char* target; /**< family: "sm_80" or "sm_90a"; null: launches use the best of the
                         card that is present, and ingot_program_code uses "sm_80" */
  const char* device; /**< a100, h100, h200 or native; null: the card present, or the family's */
  ingot_precision precision;
  ingot_math math;
} ingot_options;

/** The size of a named dimension (least == most), or a range of sizes. */
typedef struct ingot_dim {
  const char* name;
  int64_t least, most;
} ingot_dim;

typedef int32_t ingot_explain_format;
enum {
  INGOT_EXPLAIN_TEXT = 0,
  INGOT_EXPLAIN_JSON = 1, /**< the same facts */
  INGOT_EXPLAIN_DOT = 2,  /**< a drawing for Graphviz */
  INGOT_EXPLAIN_SVG = 3
};

/** The report of `ingot explain`: the kernels of a graph, their stored values and memory traffic,
 * and why each kernel ends where it does. Figures use the given sizes of named dimensions (least ==
 * most), and a typical size for a dimension that is not given. Null options: the defaults. Needs
 * neither a GPU nor NVRTC. */
ingot_code ingot_explain(const ingot_graph* graph, const ingot_options* options,
                         ingot_explain_format format, const ingot_dim* dims, size_t num_dims,
                         ingot_bytes** text, ingot_error** error);

/** A compiled graph. Launches on different threads, of one program or of several, share no lock
 * that is held during a wait. */
typedef struct ingot_program ingot_program;

/** Runs all phases of the compiler but the last. prepare and code compile kernels to machine code.
 * Null options: the defaults. Needs no GPU. */
ingot_code ingot_compile(const ingot_graph* graph, const ingot_options* options,
                         ingot_program** program, ingot_error** error);
void ingot_program_free(ingot_program* program);

/** The number of tensors of a role. */
ingot_code ingot_program_count(const ingot_program* program, ingot_role role, size_t* count,
                               ingot_error** error);
/** Tensors stand in the order of the graph's declarations. */
ingot_code ingot_program_tensor(const ingot_program* program, ingot_role role, size_t index,
                                ingot_tensor_info* info, ingot_error** error);
/** The `rank` extents of a tensor. `dims` gives a size for every named dimension of its shape. */
ingot_code ingot_program_shape(const ingot_program* program, ingot_role role, size_t index,
                               const ingot_dim* dims, size_t num_dims, int64_t* extents,
                               size_t rank, ingot_error** error);
/** Number of kernels per launch. */
ingot_code ingot_program_kernels(const ingot_program* program, int32_t* count, ingot_error** error);

/** Device memory that the caller provides. Every pointer must be aligned to 256 bytes. */
typedef struct ingot_memory {
  size_t struct_size;
  int64_t prepared;  /**< bytes per parameter set, read-only after prepare */
  int64_t workspace; /**< bytes per launch in flight, undefined on entry */
  int64_t state;     /**< bytes per launch in flight, zeroed once by the caller */
} ingot_memory;

/** An upper bound of the memory that launches with these sizes need. A dimension that is not listed
 * may have any size. Sizes at which a tensor has 2^63 bytes or more give INGOT_INVALID_ARGUMENT. */
ingot_code ingot_program_memory(const ingot_program* program, const ingot_dim* dims,
                                size_t num_dims, ingot_memory* memory, ingot_error** error);

typedef int32_t ingot_code_format;
enum { INGOT_PTX = 0, INGOT_CUBIN = 1, INGOT_CUDA = 2, INGOT_TORCH = 3 };

/** The code of all kernels in one file, and the JSON manifest that describes the launches. PTX and
 * cubins need NVRTC. */
ingot_code ingot_program_code(const ingot_program* program, ingot_code_format format,
                              ingot_bytes** code, ingot_bytes** manifest, ingot_error** error);

/** A dense row-major tensor, in device memory. For ingot_reference it is in host memory. If `shape`
 * is null, it has the shape of the graph's declaration, which then must have no named dimension. */
typedef struct ingot_tensor {
  void* data;
  const int64_t* shape;
  int32_t rank; /**< of `shape` */
} ingot_tensor;

/** `stream` is a CUstream (cudaStream_t is one); null: the default stream. */
typedef struct ingot_prepare_arguments {
  size_t struct_size;
  const ingot_tensor* params;
  size_t num_params;
  void* prepared;
  void* workspace;
  void* stream;
  const ingot_dim* dims; /**< sizes of later launches; others may be any */
  size_t num_dims;
} ingot_prepare_arguments;

/** Compiles and loads the kernels that the sizes need, on the device of the current CUDA context.
 * Then enqueues the computation of prepared memory. Call it again after writing to a param, and for
 * another parameter set, further sizes or another device. Do not call it under stream capture. */
ingot_code ingot_program_prepare(ingot_program* program, const ingot_prepare_arguments* arguments,
                                 ingot_error** error);

typedef struct ingot_launch_arguments {
  size_t struct_size;
  const ingot_tensor* inputs;
  size_t num_inputs;
  const ingot_tensor* params; /**< the params given to prepare */
  size_t num_params;
  const ingot_tensor* outputs;
  size_t num_outputs;
  void* prepared;
  void* workspace;
  void* state;
  void* stream;
} ingot_launch_arguments;

/** Checks the arguments and enqueues the kernels. Compiles, allocates and waits for nothing; may be
 * captured in a CUDA graph. Two exceptions: the first launch with a tensor that does not start at a
 * multiple of 16 bytes may compile for it (launch it once before a capture), and a fifth launch of
 * one program at a time allocates. Outputs may overlap neither each other nor anything else. Sizes,
 * params or a device that prepare has not seen give INGOT_NOT_PREPARED. */
ingot_code ingot_program_launch(const ingot_program* program,
                                const ingot_launch_arguments* arguments, ingot_error** error);

/** DLPack's tensor, whose layout is the same in all versions. It is DLTensor if dlpack.h was
 * included first. */
#ifdef DLPACK_DLPACK_H_
typedef DLTensor ingot_dltensor;
#else
typedef void ingot_dltensor;
#endif

/** Arguments as DLPack's tensors. They must be dense row-major and on the device of the current
 * CUDA context. Types, shapes, devices and strides are checked; byte offsets are respected. */
typedef struct ingot_dlpack_arguments {
  size_t struct_size;
  const ingot_dltensor* const* inputs;
  size_t num_inputs;
  const ingot_dltensor* const* params;
  size_t num_params;
  const ingot_dltensor* const* outputs;
  size_t num_outputs;
  void* prepared;
  void* workspace;
  void* state;
  void* stream;
} ingot_dlpack_arguments;

/** Uses `params`, `prepared`, `workspace` and `stream`. */
ingot_code ingot_program_prepare_dlpack(ingot_program* program,
                                        const ingot_dlpack_arguments* arguments,
                                        const ingot_dim* dims, size_t num_dims,
                                        ingot_error** error);
ingot_code ingot_program_launch_dlpack(const ingot_program* program,
                                       const ingot_dlpack_arguments* arguments,
                                       ingot_error** error);

/* ---- Reference runs --------------------------------------------------------------------------
 */

typedef struct ingot_reference_arguments {
  size_t struct_size;
  const ingot_tensor* inputs; /**< in host memory */
  size_t num_inputs;
  const ingot_tensor* params;
  size_t num_params;
  ingot_bytes** outputs;  /**< receives the elements of each output; the caller frees them */
  int64_t* const* shapes; /**< receives the extents of each output, as many as its rank; may be
                               null */
  size_t num_outputs;
} ingot_reference_arguments;

/** The outputs of a graph, as `ingot run --on=reference` computes them. It computes in f64
 * (integers exactly) and rounds once to the types of the outputs. Named dimensions get their sizes
 * from the shapes. It is slow and exact; tests compare kernels with it. Needs no GPU. On failure it
 * stores nothing. */
ingot_code ingot_reference(const ingot_graph* graph, const ingot_reference_arguments* arguments,
                           ingot_error** error);

/* ---- Bundles ----------------------------------------------------------------------------------
 */

/** Compiles a graph ahead of time into the bytes of one file (docs/bundles.md). For each card the
 * file holds a manifest, machine code, and PTX for GPUs that its machine code does not fit.
 * `options->device` is a list such as "a100,h100"; null means the named cards that run the target.
 * Needs NVRTC and no GPU. The same graph gives the same bytes. */
ingot_code ingot_bundle(const ingot_graph* graph, const ingot_options* options, ingot_bytes** bytes,
                        ingot_error** error);
/** Loads a program from the `size` bytes of a bundle, which may be freed afterwards. No compiler
 * runs and NVRTC is not loaded. prepare loads the code that fits the GPU of the current context, or
 * returns INGOT_UNSUPPORTED where none fits. Before prepare, sizes of memory are the maximum over
 * all cards. Messages call the bundle `file_name`; null: "<bundle>". A file must be a regular file
 * of at most 1 GiB. */
ingot_code ingot_program_load(const void* data, size_t size, const char* file_name,
                              ingot_program** program, ingot_error** error);
ingot_code ingot_program_load_file(const char* path, ingot_program** program, ingot_error** error);

/* ---- Device memory, for programs without a framework ------------------------------------------
 */

/** The primary context of one GPU, current in the thread that opened it, with its memory. Needs
 * only the driver. */
typedef struct ingot_gpu ingot_gpu;

/** INGOT_UNAVAILABLE without a driver or without that GPU. */
ingot_code ingot_gpu_open(int32_t ordinal, ingot_gpu** gpu, ingot_error** error);
ingot_code ingot_gpu_name(const ingot_gpu* gpu, const char** name, ingot_error** error);
/** Allocates zeroed memory, aligned to 256 bytes. ingot_gpu_free frees it. 0 bytes give null. */
ingot_code ingot_gpu_allocate(ingot_gpu* gpu, int64_t bytes, void** memory, ingot_error** error);
/** Copies and waits for the copy. */
ingot_code ingot_gpu_copy_in(ingot_gpu* gpu, void* to, const void* from, int64_t bytes,
                             ingot_error** error);
ingot_code ingot_gpu_copy_out(ingot_gpu* gpu, void* to, const void* from, int64_t bytes,
                              ingot_error** error);
/** Waits for the default stream and the work before it. Returns the error of any failed kernel or
 * copy. */
ingot_code ingot_gpu_synchronize(ingot_gpu* gpu, ingot_error** error);
void ingot_gpu_free(ingot_gpu* gpu);

/** Receives the library's warnings; null drops them. Any thread that uses the library may call it.
 * A new handler affects later compiles. */
typedef void (*ingot_warning_handler)(const char* message, void* context);
void ingot_set_warning_handler(ingot_warning_handler handler, void* context);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* INGOT_C_H */
