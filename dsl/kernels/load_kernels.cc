#include "dsl/kernels/load_kernels.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dsl/ir/chunk_body.h"
#include "dsl/ir/nest_body.h"
#include "dsl/ir/tile_bodies.h"
#include "dsl/kernels/chunk_kernel.h"
#include "dsl/kernels/interpreter.h"
#include "dsl/kernels/nest_c.h"
#include "dsl/kernels/nest_kernel.h"
#include "dsl/kernels/point_kernels.h"
#include "dsl/kernels/reduce_kernel.h"
#include "dsl/kernels/tile_kernel.h"
#include "dsl/kernels/tile_program.h"
#include "runtime/base/status.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {
namespace {

std::string SymbolOf(size_t kernel, size_t piece) {
  return absl::StrCat("dogged_", kernel, "_", piece);
}

// Makes kernels one by one, all from the same library of compiled code.
class KernelLoader {
 public:
  KernelLoader(const Job& job, const KernelRegistry& registry,
               FindSymbol symbols, const LoadLibrary& load)
      : job_(job),
        registry_(registry),
        symbols_(std::move(symbols)),
        load_(load) {}

  absl::StatusOr<std::unique_ptr<Kernel>> Load(size_t k) {
    const KernelSpec& spec = job_.program.kernels[k];
    if (spec.kind == "code") {
      DOGGED_ASSIGN_OR_RETURN(CodeBody body, CodeBody::Decode(spec.body));
      DOGGED_ASSIGN_OR_RETURN(auto function, Function(body.code, k, 0));
      std::vector<InputArray> inputs;
      for (const InputRead& read : body.reads) {
        DOGGED_ASSIGN_OR_RETURN(InputArray array, Input(read.position));
        inputs.push_back(std::move(array));
      }
      return MakeCodeKernel(std::move(body), std::move(function),
                            std::move(inputs));
    }
    if (spec.kind == "input") {
      DOGGED_ASSIGN_OR_RETURN(InputBody body, InputBody::Decode(spec.body));
      DOGGED_ASSIGN_OR_RETURN(InputArray content, Input(body.position));
      return MakeInputKernel(std::move(body), std::move(content));
    }
    if (spec.kind == "native") {
      DOGGED_ASSIGN_OR_RETURN(NativeBody body, NativeBody::Decode(spec.body));
      if (!body.library.empty()) return FromLibrary(std::move(body));
      return MakeNativeKernel(std::move(body), registry_);
    }
    if (spec.kind == "reduce") {
      DOGGED_ASSIGN_OR_RETURN(ReduceBody body, ReduceBody::Decode(spec.body));
      return MakeReduceKernel(std::move(body));
    }
    if (spec.kind == "tile") {
      DOGGED_ASSIGN_OR_RETURN(TileBody body, TileBody::Decode(spec.body));
      DOGGED_ASSIGN_OR_RETURN(auto program, Plan(body.plan));
      if (!FitsPlan(body.role, program->plan)) {
        return absl::InvalidArgumentError("a result that its plan lacks");
      }
      return MakeTileKernel(std::move(program), std::move(body.role));
    }
    if (spec.kind == "chunk") {
      DOGGED_ASSIGN_OR_RETURN(ChunkPieces body, ChunkPieces::Decode(spec.body));
      std::vector<std::unique_ptr<BoxFunction>> functions;
      for (size_t p = 0; p < body.pieces.size(); ++p) {
        DOGGED_ASSIGN_OR_RETURN(functions.emplace_back(),
                                Function(body.pieces[p].code, k, p));
      }
      return MakeChunkKernel(std::move(body), std::move(functions));
    }
    if (spec.kind == "chunk-reduce") {
      DOGGED_ASSIGN_OR_RETURN(ChunkReduction body,
                              ChunkReduction::Decode(spec.body));
      return MakeChunkReduceKernel(std::move(body));
    }
    if (spec.kind == "nest") return Nest(k);
    // A plan, or the source: no task runs them.
    return std::unique_ptr<Kernel>();
  }

 private:
  absl::StatusOr<std::unique_ptr<BoxFunction>> Function(const CodeBlock& code,
                                                        size_t k, size_t p) {
    if (symbols_ == nullptr) return Interpret(code);
    return Compiled(symbols_, SymbolOf(k, p));
  }

  // The tile of a loop nest.
  absl::StatusOr<std::unique_ptr<Kernel>> Nest(size_t k) {
    DOGGED_ASSIGN_OR_RETURN(NestBody body,
                            NestBody::Decode(job_.program.kernels[k].body));
    std::vector<InputArray> inputs;
    for (const NestBlock& block : body.blocks) {
      if (block.kind != NestBlock::Kind::kInput) continue;
      DOGGED_ASSIGN_OR_RETURN(InputArray array, Input(block.position));
      inputs.push_back(std::move(array));
    }
    NestFunction function;
    if (symbols_ != nullptr) {
      using Address = void (*)(const int64_t*, void* const*);
      void* const address = symbols_(SymbolOf(k, 0));
      if (address == nullptr) {
        return absl::InternalError("the compiled kernels lack a loop nest");
      }
      function = [library = symbols_, run = reinterpret_cast<Address>(address)](
                     const int64_t* tile, void* const* blocks) {
        run(tile, blocks);
      };
    }
    return MakeNestKernel(std::move(body), std::move(function),
                          std::move(inputs));
  }

  absl::StatusOr<std::unique_ptr<Kernel>> FromLibrary(NativeBody body) {
    std::shared_ptr<KernelLibrary>& library = libraries_[body.library];
    if (library == nullptr) {
      DOGGED_ASSIGN_OR_RETURN(library, OpenLibrary(body.library));
    }
    NativeKernel native = LibraryKernel(body, library);
    return MakeNativeKernel(std::move(body), std::move(native));
  }

  // With all that the program calls of it.
  absl::StatusOr<std::shared_ptr<KernelLibrary>> OpenLibrary(
      const std::string& name) {
    KernelLibrarySpec wanted{.name = name};
    bool is_there = false;
    for (const KernelSpec& spec : job_.program.kernels) {
      if (spec.kind == "library" && spec.name == name) {
        wanted.content = spec.body;
        is_there = true;
      } else if (spec.kind == "native") {
        DOGGED_ASSIGN_OR_RETURN(NativeBody body, NativeBody::Decode(spec.body));
        if (body.library == name) wanted.functions.push_back(body.kernel);
      }
    }
    if (!is_there) {
      return absl::InvalidArgumentError(
          absl::StrCat("the job lacks the library ", name));
    }
    if (load_ == nullptr) {
      return absl::UnavailableError(
          absl::StrCat(name, ": libraries can't be loaded here"));
    }
    return load_(wanted);
  }

  absl::StatusOr<InputArray> Input(int32_t position) {
    InputArray out = job_.InputAt(position);
    if (out.IsNone()) return absl::InvalidArgumentError("an input is missing");
    return out;
  }

  absl::StatusOr<std::shared_ptr<const TileProgram>> Plan(int32_t k) {
    if (k < 0 || k >= static_cast<int32_t>(job_.program.kernels.size())) {
      return absl::InvalidArgumentError("a tile kernel without its plan");
    }
    auto& program = plans_[k];
    if (program != nullptr) return program;
    DOGGED_ASSIGN_OR_RETURN(TilePlan plan,
                            DecodeTilePlan(job_.program.kernels[k]));
    std::vector<std::unique_ptr<BoxFunction>> functions;
    for (size_t p = 0; p < plan.pieces.size(); ++p) {
      DOGGED_ASSIGN_OR_RETURN(auto function,
                              Function(plan.pieces[p].code, k, p));
      functions.push_back(std::move(function));
    }
    std::vector<InputArray> inputs;
    for (const TileInput& input : plan.inputs) {
      DOGGED_ASSIGN_OR_RETURN(InputArray array, Input(input.position));
      inputs.push_back(std::move(array));
    }
    DOGGED_ASSIGN_OR_RETURN(
        program, MakeTileProgram(std::move(plan), std::move(functions),
                                 std::move(inputs)));
    return program;
  }

  const Job& job_;
  const KernelRegistry& registry_;
  FindSymbol symbols_;
  const LoadLibrary& load_;
  absl::flat_hash_map<std::string, std::shared_ptr<KernelLibrary>> libraries_;
  absl::flat_hash_map<int32_t, std::shared_ptr<const TileProgram>> plans_;
};

// `trouble` as of LoadKernels().
absl::StatusOr<FindSymbol> CompileJob(const Job& job,
                                      const CompileSource& compile,
                                      absl::Status* trouble) {
  if (absl::StrContains(job.lowering, kInterpreted)) return FindSymbol();
  for (const KernelSpec& spec : job.program.kernels) {
    if (spec.kind != "c") continue;
    absl::StatusOr<FindSymbol> symbols =
        compile == nullptr ? absl::UnavailableError("no compiler")
                           : compile(spec.body);
    if (symbols.ok() || absl::IsCancelled(symbols.status())) return symbols;
    // The interpreter gives the same bits, only later.
    if (trouble != nullptr) {
      *trouble = Annotate(symbols.status(), "kernels are interpreted");
      return FindSymbol();
    }
    if (absl::IsUnavailable(symbols.status())) return FindSymbol();
    return symbols;
  }
  return FindSymbol();
}

}  // namespace

absl::StatusOr<std::string> CSourceOf(const Program& program) {
  std::string out;
  bool has_nests = false;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const KernelSpec& spec = program.kernels[k];
    if (spec.kind == "code") {
      DOGGED_ASSIGN_OR_RETURN(const CodeBody body, CodeBody::Decode(spec.body));
      absl::StrAppend(&out, "\n", EmitC(body.code, SymbolOf(k, 0)));
    } else if (spec.kind == "chunk") {
      DOGGED_ASSIGN_OR_RETURN(const ChunkPieces body,
                              ChunkPieces::Decode(spec.body));
      for (size_t p = 0; p < body.pieces.size(); ++p) {
        absl::StrAppend(&out, "\n", EmitC(body.pieces[p].code, SymbolOf(k, p)));
      }
    } else if (spec.kind == "tile-plan") {
      DOGGED_ASSIGN_OR_RETURN(const TilePlan plan, DecodeTilePlan(spec));
      for (size_t p = 0; p < plan.pieces.size(); ++p) {
        absl::StrAppend(&out, "\n", EmitC(plan.pieces[p].code, SymbolOf(k, p)));
      }
    } else if (spec.kind == "nest") {
      DOGGED_ASSIGN_OR_RETURN(const NestBody body, NestBody::Decode(spec.body));
      absl::StrAppend(&out, "\n", EmitNestC(body, SymbolOf(k, 0)));
      has_nests = true;
    }
  }
  if (out.empty()) return out;
  return absl::StrCat(CPrelude(), has_nests ? CNestPrelude() : "", out);
}

absl::StatusOr<KernelTable> LoadKernels(const Job& job,
                                        const KernelRegistry& registry,
                                        const CompileSource& compile,
                                        const LoadLibrary& load,
                                        absl::Status* trouble) {
  DOGGED_ASSIGN_OR_RETURN(FindSymbol symbols,
                          CompileJob(job, compile, trouble));
  KernelLoader loader(job, registry, std::move(symbols), load);
  KernelTable table;
  for (size_t k = 0; k < job.program.kernels.size(); ++k) {
    absl::StatusOr<std::unique_ptr<Kernel>> kernel = loader.Load(k);
    if (!kernel.ok()) {
      return Annotate(kernel.status(), job.program.kernels[k].name);
    }
    table.push_back(*std::move(kernel));
  }
  for (const TaskClass& c : job.program.classes) {
    const Kernel* kernel = table[c.kernel].get();
    if (kernel != nullptr && kernel->Fits(c)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("task ", c.name, " has a kernel that can't run it"));
  }
  return table;
}

}  // namespace dogged::dsl
