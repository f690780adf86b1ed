#!/usr/bin/env python3
"""Aim: the lint programs see what they are for. Method: one sin a case."""

import os
import unittest

import keys
import layers
import names
import rooms
import sizes


class Keys(unittest.TestCase):

    def test_keys_of_a_source(self):
        for line in ('  out["input_bytes"] = 3;', '{{"input_bytes", 3},',
                     '      {"input_bytes", job.bytes},'):
            self.assertEqual(["input_bytes"], keys.KEY.findall(line), line)

    def test_section(self):
        page = "# A\n\n## `run`\nx `a[].b`\n### C\n`c`\n## D\n`d`\n"
        self.assertEqual({"run", "a", "b", "c"},
                         keys.named_in(keys.section_of(page, "## `run`")))
        self.assertIn("d", keys.named_in(keys.section_of(page, "# A")))
        self.assertIsNone(keys.section_of(page, "## E"))

    def test_rows(self):
        section = "| key | x |\n|--|--|\n| `a`, `b_c` | `d` |\n\n| e |\n| `f` |\n"
        self.assertEqual({"a", "b_c"}, keys.rows_of(section))


class Names(unittest.TestCase):

    def problems(self, first, second, folder="dsl/check/"):
        def source(line):
            return f"namespace {{\n\n{line}\n\n}}  // namespace\n"
        return names.check_names(
            {folder + "a.cc": source(first), "dsl/check/b.cc": source(second)},
            lambda path: path in ("dsl/check/CMakeLists.txt",
                                  "dsl/text/CMakeLists.txt"))

    def test_two_of_one_name(self):
        for sin in ("int Count(int x) {", "constexpr int kMax = 3;",
                    "constexpr int kMax[] = {3};", "struct Count {",
                    "std::vector<int> Count(", "const Count* kMax = nullptr;"):
            self.assertEqual(1, len(self.problems(sin, sin)), sin)
        self.assertTrue(self.problems("int Count(int x) {",
                                      "int Count(double x) {"))

    def test_two_types_of_one_name(self):
        def header(line, space="dogged"):
            return f"namespace {space} {{\n\n{line}\n\n}}  // namespace {space}\n"

        def problems(first, second):
            return names.check_types({"apps/output/a.h": first,
                                      "apps/verify/b.h": second})
        for line in ("struct Block {", "class Block {", "enum class Block {",
                     "class Block : public Part {",
                     "struct Block { int a = 0; };"):
            self.assertEqual(1, len(problems(header("struct Block {"),
                                             header(line))), line)
        self.assertFalse(problems(header("struct Block {"),
                                  header("struct Block;")))
        self.assertFalse(problems(header("struct Block {"),
                                  header("struct Block {", "dogged::dsl")))

    def test_what_may_be(self):
        self.assertFalse(self.problems("using Few = int;", "using Few = int;"))
        self.assertTrue(self.problems("using Few = int;", "using Few = long;"))
        self.assertFalse(self.problems("int Count(int x) {",
                                       "bool Reader::Count(int x) {"))
        self.assertFalse(self.problems("  return Count(3);", "  Count(4);"))
        self.assertFalse(self.problems("int Count(int x) {",
                                       "int Count(int x) {", "dsl/text/"))


class Layers(unittest.TestCase):

    def problems(self, path, text):
        return layers.check_source(path, text)

    def test_upward_include(self):
        self.assertIn("runtime/exec may not include kvstore", self.problems(
            "runtime/exec/pool.cc", '#include "kvstore/dictionary/shard.h"\n')[0])

    def test_folders_of_the_compiler(self):
        include = '#include "dsl/lower/lower.h"\n'
        self.assertIn("dsl/kernels may not include dsl/lower",
                      self.problems("dsl/kernels/interpreter.cc", include)[0])
        self.assertTrue(self.problems("dsl/compile.cc",
                                      '#include "dsl/isl/analysis_isl.h"\n'))
        self.assertFalse(self.problems("dsl/tiling/program_split.cc", include))

    def test_folders_of_the_command_line(self):
        include = '#include "apps/dogged/run/run_options.h"\n'
        self.assertTrue(self.problems("apps/dogged/agent/told_address.cc",
                                      include))
        self.assertFalse(self.problems("apps/dogged/cli/run_flags.cc", include))

    def test_the_library_of_c_is_alone(self):
        for header in ('"runtime/base/value.h"', '"absl/status/status.h"',
                       '"absl/strings/string_view.h"'):
            self.assertTrue(self.problems("apps/client/client_job.cc",
                                          f"#include {header}\n"), header)
        self.assertTrue(self.problems("apps/dogged/door/door_job.cc",
                                      '#include "apps/client/dogged.h"\n'))

    def test_routing_knows_no_labels(self):
        self.assertTrue(self.problems("routing/membership/view.cc",
                                      '#include "runtime/base/label.h"\n'))
        self.assertFalse(self.problems("routing/membership/view.cc",
                                       '#include "runtime/base/ids.h"\n'))

    def test_outside_header_has_one_place(self):
        self.assertTrue(self.problems("dsl/check/check.cc",
                                      "#include <hwloc.h>\n"))
        self.assertFalse(self.problems("runtime/exec/cpu_layout_hwloc.cc",
                                       "#include <hwloc.h>\n"))
        self.assertTrue(self.problems("dsl/check/check.cc",
                                      "#include <zmq.h>\n"))
        self.assertFalse(self.problems("dsl/check/check.cc",
                                       "#include <vector>\n"))

    def test_adapter_header(self):
        include = '#include "runtime/exec/cpu_layout_hwloc.h"\n'
        self.assertTrue(self.problems("runtime/agent/agent.cc", include))
        self.assertFalse(self.problems("apps/dogged/agent/agent_command.cc", include))

    def test_rooms_of_a_job(self):
        include = '#include "runtime/job/search/demands.h"\n'
        self.assertTrue(self.problems("runtime/job/tasks/a.cc", include))
        self.assertFalse(self.problems("runtime/job/a.cc", include))

    def test_the_dictionary_is_tested_without_tasks(self):
        include = '#include "runtime/graph/task.h"\n'
        self.assertTrue(self.problems("tests/kvstore/a_test.cc", include))
        self.assertFalse(self.problems("tests/agent/a_test.cc", include))

    def test_banned_names(self):
        for sin in ("auto t = std::chrono::steady_clock::now();",
                    "int x = rand();", "std::thread t;", "getenv(name);",
                    "absl::Hash<int> h;", "std::cout << 1;", "throw 1;",
                    "std::string_view v;"):
            self.assertEqual(
                1, len(self.problems("dsl/check/check.cc", sin)), sin)

    def test_comments_and_strings_may_say_anything(self):
        self.assertFalse(self.problems(
            "dsl/check/check.cc",
            '// std::thread\nauto s = "rand()"; /* throw */\n'))

    def test_links(self):
        problems = layers.check_targets({
            "dsl/CMakeLists.txt":
                "dogged_library(NAME dsl DEPS dogged::exec)\n",
            "runtime/exec/CMakeLists.txt":
                "dogged_library(NAME exec DEPS dogged::base)\n"})
        self.assertEqual(1, len(problems))


class Rooms(unittest.TestCase):

    def test_source_without_header(self):
        self.assertEqual(
            ["dsl/check/check_more.cc:1", "dsl/ir/tile_plan_more.cc:1",
             "kvstore/storage/a_more.cc:1"],
            sorted(problem.split(": ")[0] for problem in rooms.check_headers(
                ["kvstore/storage/a.cc", "kvstore/storage/a.h",
                 "kvstore/storage/a_more.cc", "dsl/check/check_more.cc",
                 "dsl/ir/tile_plan_more.cc", "apps/dogged/main.cc"])))

    def test_programs_need_no_header(self):
        self.assertFalse(rooms.check_headers(
            ["apps/dogged/main.cc", "apps/heat1d/reference.cc",
             "apps/dogged_bench/hop_bench.cc", "apps/tiles/micro_kernels_4.cc"]))
        self.assertEqual(2, len(rooms.check_headers(
            ["apps/output/plot_more.cc", "runtime/sim/cluster_more.cc"])))

    def test_large_folder(self):
        paths = [f"dsl/text/file{n}.cc" for n in range(41)]
        self.assertTrue(rooms.check_folders(paths))
        self.assertFalse(rooms.check_folders(paths[1:]))

    def test_class_in_many_files(self):
        text = "int64_t Shard::size() const {\n}\n"
        for folder in ("kvstore/storage", "dsl/isl", "dsl/check"):
            names = [f"{folder}/{name}.cc" for name in "abc"]
            self.assertTrue(rooms.check_classes({n: text for n in names}))
            self.assertFalse(rooms.check_classes({n: text for n in names[:2]}))

    def test_dead_reference(self):
        def problems(path, text):
            return rooms.check_references(path, text,
                                          lambda name: name == "docs/A.md")
        self.assertTrue(problems("dsl/a.cc", "// as docs/B.md says\n"))
        self.assertFalse(problems("dsl/a.cc", "// as docs/A.md says\n"))
        self.assertFalse(problems("dsl/a.cc", '#include "dsl/b.h"\n'))
        self.assertTrue(problems("docs/A.md", "see `docs/B.md`"))

    def test_dead_decision(self):
        def problems(path, text):
            return rooms.check_references(path, text,
                                          lambda name: name == "ADR-7")
        self.assertTrue(problems("dsl/a.cc", "// ADR-8 says why\n"))
        self.assertFalse(problems("dsl/a.cc", "// ADR-7 says why\n"))
        self.assertTrue(problems("dsl/a.cc", "// docs/adr/0007-* says why\n"))
        self.assertTrue(problems("docs/A.md", "as in ADR 7"))


class Sizes(unittest.TestCase):

    def problems(self, text, path="dsl/check/check.cc"):
        return sizes.check_source(path, text)

    def test_parameters(self):
        self.assertTrue(self.problems(
            "void F(int a, int b, int c, int d, int e, int f, int g) {\n}\n"))
        self.assertFalse(self.problems(
            "void F(A<int, int> a, int c, int d, int e, int f, int g) {\n}\n"))

    def test_nesting(self):
        deep = "if (a) {\n" * 5 + "}\n" * 5
        self.assertTrue(self.problems("void F() {\n" + deep + "}\n"))
        deep = "if (a) {\n" * 4 + "}\n" * 4
        self.assertFalse(self.problems("void F() {\n" + deep + "}\n"))

    def test_lines(self):
        self.assertTrue(self.problems("// " + "x" * 78 + "\n"))
        self.assertFalse(self.problems("\n" * 501))


if __name__ == "__main__":
    unittest.main()
