// Aim: docs/COMPILER.md shows what the compiler does, not what it did once.
// Method: one program through the passes, one after another as Compile() has
// them; each block of the page is what is printed here. --rewrite writes them.
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "dsl/check/check.h"
#include "dsl/ir/point_program.h"
#include "dsl/ir/tile_bodies.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/kernels/c_kernels.h"
#include "dsl/lower/lower.h"
#include "dsl/text/diagnostics.h"
#include "dsl/text/parser.h"
#include "dsl/text/print.h"
#include "dsl/tiling/lower_program.h"
#include "dsl/tiling/program_split.h"
#include "gtest/gtest.h"
#include "runtime/graph/relations.h"

namespace dogged::dsl {
namespace {

bool g_rewrite = false;

using Names = std::vector<std::string>;

constexpr char kSource[] = R"(param N = 40
param T = 8

boundary u(0)(t) = 0
boundary u(N)(t) = 0

task start
  creates u(x)(0) as n
  for x = 1:N-1
  code
    n = x*(N - x)
  end code
end task

task step
  creates u(x)(t) as n
  for
    x = 1:N-1
    t = 1:T
  using
    u(x-1)(t-1) as l
    u(x)(t-1)   as c
    u(x+1)(t-1) as r
  code
    n = c + 0.25*(l - 2*c + r)
  end code
end task

reduce heat = sum(u(x)(T)) over x = 0:N

result u(:)(T)
result heat
)";
// Smaller than any that would be chosen, so that there is something to see.
const TileShape kShape{.widths = {10}, .depth = 4};

std::string Indexed(const std::string& name, const Names& indices) {
  if (indices.empty()) return name;
  return absl::StrCat(name, "(", absl::StrJoin(indices, ")("), ")");
}

Names NamesOf(const Domain& domain) {
  Names out;
  for (const Dimension& d : domain.dimensions) out.push_back(d.name);
  return out;
}

// ---- what Check and Analyze leave

std::string FormText(const LinearForm& form, const Names& dims,
                     const CheckedProgram& program) {
  AffineExpr expr{.constant = form.constant};
  Names names = dims;
  for (size_t d = 0; d < form.dims.size(); ++d) {
    expr.coefficients[d] = form.dims[d];
  }
  names.resize(form.dims.size());
  for (size_t p = 0; p < form.params.size(); ++p) {
    expr.coefficients[names.size()] = form.params[p];
    names.push_back(program.parameters[p].name);
  }
  return expr.ToString(names);
}

Names NamesOf(const CheckedDomain& domain) {
  Names out;
  for (const CheckedDimension& d : domain.dimensions) out.push_back(d.name);
  return out;
}

std::string RefText(const CheckedRef& ref, const Names& dims,
                    const CheckedProgram& program) {
  Names indices;
  for (const LinearForm& form : ref.index) {
    indices.push_back(FormText(form, dims, program));
  }
  return Indexed(program.arrays[ref.array].name, indices);
}

std::string DomainText(const CheckedDomain& domain,
                       const CheckedProgram& program) {
  Names parts;
  for (const CheckedDimension& d : domain.dimensions) {
    std::string part;
    for (const CheckedBound& bound : d.lower) {
      absl::StrAppend(&part, FormText(bound.form, NamesOf(domain), program),
                      " <= ");
    }
    absl::StrAppend(&part, d.name);
    for (const CheckedBound& bound : d.upper) {
      absl::StrAppend(&part,
                      " <= ", FormText(bound.form, NamesOf(domain), program));
    }
    parts.push_back(part);
  }
  return absl::StrJoin(parts, ", ");
}

std::string CheckedText(const CheckedProgram& program) {
  std::string out;
  for (const CheckedParameter& p : program.parameters) {
    absl::StrAppend(&out, "parameter ", p.name, ": int64, ", p.integer, "\n");
  }
  for (const CheckedArray& array : program.arrays) {
    Names ranges;
    for (size_t i = 0; i < array.lower.size(); ++i) {
      ranges.push_back(absl::StrCat(array.lower[i], ":", array.upper[i]));
    }
    absl::StrAppend(&out, "array ", Indexed(array.name, ranges), ": ",
                    std::string(ElementName(array.element)), "\n");
  }
  for (const CheckedTask& task : program.tasks) {
    const Names dims = NamesOf(task.domain);
    const std::string domain = DomainText(task.domain, program);
    absl::StrAppend(&out, "task ", task.name, domain.empty() ? "" : ": ",
                    domain, task.is_all_needed ? "; all needed" : "", "\n");
    for (const CheckedCreate& create : task.creates) {
      absl::StrAppend(&out, "  creates ", RefText(create.ref, dims, program),
                      "\n");
    }
    for (const CheckedUse& use : task.uses) {
      absl::StrAppend(
          &out, "  uses ",
          RefText(use.ref, use.over ? NamesOf(*use.over) : dims, program));
      if (use.over) {
        absl::StrAppend(&out, " for all ", DomainText(*use.over, program));
      }
      absl::StrAppend(&out, "\n");
    }
    for (const CheckedStatement& statement : task.code) {
      absl::StrAppend(&out, "  ",
                      statement.name.empty() ? "value" : statement.name, " = ",
                      Print(statement.value), "\n");
    }
  }
  return out;
}

// ---- the point program

std::string MapText(const AffineMap& map, const std::string& array,
                    const Names& names) {
  Names indices;
  for (const AffineExpr& expr : map) indices.push_back(expr.ToString(names));
  return Indexed(array, indices);
}

std::string DomainText(const Domain& domain) {
  const Names names = NamesOf(domain);
  Names parts;
  for (const Dimension& d : domain.dimensions) {
    std::string part;
    for (const AffineBound& bound : d.lower) {
      absl::StrAppend(&part, bound.expr.ToString(names), " <= ");
    }
    absl::StrAppend(&part, d.name);
    for (const AffineBound& bound : d.upper) {
      absl::StrAppend(&part, " <= ", bound.expr.ToString(names));
    }
    parts.push_back(part);
  }
  return absl::StrJoin(parts, ", ");
}

std::string NodeText(const IrNode& node) {
  const auto operand = [](int32_t k) { return absl::StrCat("%", k); };
  switch (node.op) {
    case IrOp::kConstant:
      return node.type == IrType::kDouble ? absl::StrCat(node.real)
                                          : absl::StrCat(node.integer);
    case IrOp::kIndex:
      return absl::StrCat("index ", node.integer);
    case IrOp::kLoad:
      return absl::StrCat("load ", node.integer);
    case IrOp::kConvert:
      return absl::StrCat("double(", operand(node.a), ")");
    case IrOp::kAdd:
      return absl::StrCat(operand(node.a), " + ", operand(node.b));
    case IrOp::kSubtract:
      return absl::StrCat(operand(node.a), " - ", operand(node.b));
    case IrOp::kMultiply:
      return absl::StrCat(operand(node.a), " * ", operand(node.b));
    default:
      return "?";  // the program has no others
  }
}

std::string CodeText(const CodeBlock& code) {
  std::string out;
  for (size_t n = 0; n < code.nodes.size(); ++n) {
    absl::StrAppend(&out, "    %", n, " = ", NodeText(code.nodes[n]), "\n");
  }
  for (size_t s = 0; s < code.stores.size(); ++s) {
    absl::StrAppend(&out, "    store ", s, " = %", code.stores[s].node, "\n");
  }
  return out;
}

std::string PointsText(const PointProgram& points) {
  std::string out;
  const auto name = [&](int32_t array) { return points.arrays[array].name; };
  for (const PointClass& c : points.classes) {
    const Names names = NamesOf(c.domain);
    const std::string domain = DomainText(c.domain);
    absl::StrAppend(&out, "class ", c.name, ": ", domain, "\n");
    for (const Create& create : c.creates) {
      absl::StrAppend(&out, "  creates ",
                      MapText(create.map, name(create.array), names), "\n");
    }
    for (const Use& use : c.uses) {
      absl::StrAppend(&out, "  uses ", MapText(use.map, name(use.array), names),
                      "\n");
    }
    absl::StrAppend(&out, CodeText(c.code.code));
  }
  for (const PointReduction& r : points.reductions) {
    absl::StrAppend(&out, r.name, ": sum of ",
                    MapText(r.source_map, name(r.source), NamesOf(r.over)),
                    " for ", DomainText(r.over), "\n");
  }
  for (const PointResult& result : points.results) {
    absl::StrAppend(
        &out, "result ",
        MapText(result.map, name(result.array), NamesOf(result.domain)));
    const std::string domain = DomainText(result.domain);
    absl::StrAppend(&out, domain.empty() ? "" : " for ", domain, "\n");
  }
  return out;
}

std::string SplitText(const ProgramSplit& split) {
  const auto part = [](const PointProgram& points) {
    std::string out;
    for (const PointClass& c : points.classes) {
      absl::StrAppend(&out, "  class ", c.name, "\n");
    }
    for (const PointReduction& r : points.reductions) {
      absl::StrAppend(&out, "  ", r.name, "\n");
    }
    for (const PointResult& result : points.results) {
      absl::StrAppend(&out, "  result of ", points.arrays[result.array].name,
                      "\n");
    }
    return out;
  };
  std::string out =
      absl::StrCat("tiled part:\n", part(split.tiled), "bridges:\n");
  for (const PointReduction& r : split.bridges) {
    absl::StrAppend(&out, "  ", r.name, ", of ",
                    split.tiled.arrays[r.source].name, "\n");
  }
  return absl::StrCat(out, "pointwise part:\n", part(split.pointwise));
}

// ---- the tile plan

std::string BoxText(const Box& box) {
  Names ranges;
  for (int d = 0; d < box.size(); ++d) {
    ranges.push_back(absl::StrCat(box.lower[d], ":", box.upper[d]));
  }
  return absl::StrJoin(ranges, " x ");
}

std::string GuardText(const Guard& guard, const Names& names) {
  Names alternatives;
  for (const auto& all : guard.any_of) {
    Names parts;
    for (const Constraint& c : all) {
      parts.push_back(
          absl::StrCat(c.expr.ToString(names),
                       c.kind == Constraint::Kind::kAtLeastZero ? " >= 0"
                       : c.kind == Constraint::Kind::kZero
                           ? " == 0"
                           : absl::StrCat(" divisible by ", c.modulus)));
    }
    alternatives.push_back(absl::StrJoin(parts, " and "));
  }
  return absl::StrJoin(alternatives, ", or ");
}

std::string PlanText(const TilePlan& plan) {
  const Names names = {"t", "x"};
  std::string out = absl::StrCat(
      "space ", BoxText(plan.space), " in ", absl::StrJoin(plan.counts, " x "),
      " tiles of ", absl::StrJoin(plan.widths, " x "), "\ntime steps ",
      plan.first_time_step, ":", plan.last_time_step, ", the start up to ",
      plan.base_time_step, ", then ", plan.depth, " at a time\n");
  for (const TileField& field : plan.fields) {
    absl::StrAppend(&out, "field ", field.name, ": ", field.carried,
                    " time step carried, reads ", field.halo_below[0],
                    " before and ", field.halo_above[0], " behind a tile\n");
  }
  for (const TilePiece& piece : plan.pieces) {
    absl::StrAppend(&out, "piece ", piece.code.name, "\n");
    Names where;
    for (const AffineExpr& expr : piece.at_least) {
      where.push_back(absl::StrCat(expr.ToString(names), " >= 0"));
    }
    if (!where.empty()) {
      absl::StrAppend(&out, "  where ", absl::StrJoin(where, ", "), "\n");
    }
    if (!piece.time_steps.IsAlways()) {
      absl::StrAppend(&out, "  at time steps ",
                      GuardText(piece.time_steps, names), "\n");
    }
    for (const TileLoad& load : piece.loads) {
      const std::string field = plan.fields[load.source].name;
      const AffineExpr x = AffineExpr::Index(1, load.shifts[0]);
      const AffineExpr t = AffineExpr::Index(0, -load.lag);
      absl::StrAppend(&out, "  reads ",
                      Indexed(field, {x.ToString(names), t.ToString(names)}),
                      "\n");
    }
  }
  return out;
}

// ---- the dependency description

std::string GraphText(const Program& program) {
  std::string out;
  const auto name = [&](int32_t array) { return program.arrays[array].name; };
  for (const TaskClass& c : program.classes) {
    const Names names = NamesOf(c.domain);
    const KernelSpec& kernel = program.kernels[c.kernel];
    const std::string domain = DomainText(c.domain);
    absl::StrAppend(&out, "class ", c.name, " (", kernel.kind, ")",
                    domain.empty() ? "" : ": ", domain, "\n");
    for (const Create& create : c.creates) {
      absl::StrAppend(&out, "  creates ",
                      MapText(create.map, name(create.array), names), "\n");
    }
    for (const Use& use : c.uses) {
      absl::StrAppend(&out, "  uses ",
                      MapText(use.map, name(use.array), names));
      if (!use.guard.IsAlways()) {
        absl::StrAppend(&out, " where ", GuardText(use.guard, names));
      }
      absl::StrAppend(&out, "\n");
    }
  }
  return out;
}

// A task of the program, and its neighbours.
std::string TaskText(const Program& program, const Task& task) {
  const Relations relations(program);
  std::string out = absl::StrCat(program.TaskText(task), " requires\n");
  relations.ForEachRequired(task, [&](int, const Label& label) {
    const auto producer = relations.ProducerOf(label);
    absl::StrAppend(&out, "  ", program.LabelText(label), " of ",
                    producer ? program.TaskText(*producer) : "nobody", "\n");
  });
  absl::StrAppend(&out, "and creates\n");
  relations.ForEachCreated(task, [&](int, const Label& label) {
    Names consumers;
    relations.ForEachConsumer(label, [&](const Task& consumer, int) {
      consumers.push_back(program.TaskText(consumer));
      return true;
    });
    absl::StrAppend(&out, "  ", program.LabelText(label),
                    consumers.empty() ? "" : " for ",
                    absl::StrJoin(consumers, ", "), "\n");
  });
  return out;
}

// The blocks of the page, by name.
std::map<std::string, std::string> Blocks() {
  std::map<std::string, std::string> out;
  Diagnostics diagnostics("heat.dog", kSource);
  out["source"] = kSource;
  const ast::Program tree = Parse(diagnostics);
  CheckedProgram checked = Check(tree, {}, diagnostics);
  out["checked"] = CheckedText(checked);
  AnalyzeWithIsl(checked, diagnostics);
  out["analysed"] = CheckedText(checked);
  const PointProgram points = MakePointProgram(checked, "heat", diagnostics);
  EXPECT_FALSE(diagnostics.HasErrors()) << diagnostics.ToString();
  out["points"] = PointsText(points);
  const absl::StatusOr<ProgramSplit> split = Split(points);
  EXPECT_TRUE(split.ok()) << split.status();
  out["split"] = SplitText(*split);
  std::string how;
  const absl::StatusOr<Program> program =
      LowerProgram(points, {}, /*coalesce=*/true, kShape, how);
  EXPECT_TRUE(program.ok()) << program.status();
  const absl::StatusOr<TilePlan> plan =
      DecodeTilePlan(program->kernels.front());
  EXPECT_TRUE(plan.ok()) << plan.status();
  out["plan"] = PlanText(*plan);
  out["graph"] = GraphText(*program);
  for (size_t c = 0; c < program->classes.size(); ++c) {
    if (program->classes[c].name != "step") continue;
    out["task"] = TaskText(
        *program, {.task_class = static_cast<int32_t>(c), .index = {1, 1}});
  }
  for (const TilePiece& piece : plan->pieces) {
    if (absl::StrContains(piece.code.name, "step")) {
      out["C"] = EmitC(piece.code, "dogged_0_0");
    }
  }
  return out;
}

std::string Load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

// `page` with the content of each block "```LANGUAGE NAME" from `blocks`; all
// names must be there.
std::string Filled(const std::string& page,
                   std::map<std::string, std::string> blocks) {
  std::string out;
  std::istringstream lines(page);
  std::string line;
  bool is_inside = false;
  while (std::getline(lines, line)) {
    const bool is_fence = absl::StartsWith(line, "```");
    if (is_inside && !is_fence) continue;
    absl::StrAppend(&out, line, "\n");
    if (!is_fence) continue;
    const size_t blank = line.find(' ');
    is_inside = !is_inside;
    if (!is_inside) continue;
    const std::string name =
        blank == std::string::npos ? "" : line.substr(blank + 1);
    EXPECT_EQ(blocks.count(name), 1u) << "no block " << name;
    absl::StrAppend(&out, blocks[name]);
    blocks.erase(name);
  }
  for (const auto& [name, text] : blocks) {
    ADD_FAILURE() << "the page has no block " << name;
  }
  return out;
}

TEST(CompilerPage, ShowsWhatThePassesMake) {
  const std::string page = Load(DOGGED_COMPILER_MD);
  const std::string filled = Filled(page, Blocks());
  if (g_rewrite) {
    std::ofstream(DOGGED_COMPILER_MD, std::ios::binary) << filled;
    return;
  }
  EXPECT_EQ(page, filled) << "dsl_compiler_page_test --rewrite writes it anew";
}

}  // namespace
}  // namespace dogged::dsl

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--rewrite") dogged::dsl::g_rewrite = true;
  }
  return RUN_ALL_TESTS();
}
