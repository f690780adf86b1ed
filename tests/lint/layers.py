#!/usr/bin/env python3
"""Which package includes which, which outside header stands in which file, and which
names are banned where. See docs/STYLE.md. A new row is a decision.

    tests/lint/layers.py [ROOT]
"""

import fnmatch
import re
import sys

import source

# package: the packages that it may include and link, beside itself.
LAYERS = {
    "runtime/base": [],
    "routing/transport": ["runtime/base"],
    "routing/topology": ["runtime/base"],
    "routing/membership": ["runtime/base", "routing/transport",
                           "routing/topology"],
    "routing/plans": ["runtime/base", "routing/topology",
                      "routing/membership"],
    "routing/stream": ["runtime/base", "routing/transport",
                       "routing/topology", "routing/membership",
                       "routing/plans"],
    "routing/multicast": ["runtime/base", "routing/transport",
                          "routing/topology", "routing/membership",
                          "routing/plans", "routing/stream"],
    "routing/memory": ["runtime/base", "routing/transport"],
    "routing/trust": ["runtime/base", "routing/transport"],
    "routing/control": ["runtime/base", "routing/trust"],
    "routing/fabric": ["runtime/base", "routing/transport",
                       "routing/trust", "routing/control"],
    "routing/model": ["runtime/base", "routing", "routing/topology",
                      "routing/plans"],
    "routing": ["runtime/base"],
    "kvstore": ["runtime/base", "routing"],
    "runtime/graph": ["runtime/base"],
    "dsl/text": ["runtime/base"],
    "dsl/check": ["runtime/base", "runtime/graph", "dsl/text"],
    "dsl/isl": ["runtime/base", "runtime/graph", "dsl/text", "dsl/check"],
    "dsl/ir": ["runtime/base", "runtime/graph", "dsl/text"],
    "dsl/kernels": ["runtime/base", "runtime/graph", "dsl/text", "dsl/ir"],
    "dsl/lower": ["runtime/base", "runtime/graph", "dsl/text", "dsl/check",
                  "dsl/ir", "dsl/kernels"],
    "dsl/chunks": ["runtime/base", "runtime/graph", "dsl/text", "dsl/ir",
                   "dsl/kernels", "dsl/lower"],
    "dsl/nest": ["runtime/base", "runtime/graph", "dsl/text", "dsl/isl",
                 "dsl/ir", "dsl/kernels", "dsl/lower"],
    "dsl/tiling": ["runtime/base", "runtime/graph", "dsl/text", "dsl/ir",
                   "dsl/kernels", "dsl/lower"],
    "dsl": ["runtime/base", "runtime/graph", "dsl/text", "dsl/check", "dsl/ir",
            "dsl/kernels", "dsl/lower", "dsl/chunks", "dsl/tiling"],
    "runtime/exec": ["runtime/base", "runtime/graph"],
    "runtime/job/inputs": ["runtime/base", "runtime/graph", "runtime/exec",
                           "routing", "kvstore"],
    "runtime/job/storage": ["runtime/base", "runtime/graph", "runtime/exec",
                            "routing", "kvstore"],
    "runtime/job/context": ["runtime/base", "runtime/graph", "runtime/exec",
                            "routing", "kvstore", "runtime/job/inputs",
                            "runtime/job/storage"],
    "runtime/job/tasks": ["runtime/base", "runtime/graph", "runtime/exec",
                          "routing", "kvstore", "runtime/job/inputs",
                          "runtime/job/storage", "runtime/job/context"],
    "runtime/job/search": ["runtime/base", "runtime/graph", "runtime/exec",
                           "routing", "kvstore", "runtime/job/inputs",
                           "runtime/job/storage", "runtime/job/context",
                           "runtime/job/tasks"],
    "runtime/job": ["runtime/base", "runtime/graph", "runtime/exec",
                    "routing", "kvstore", "runtime/job/inputs",
                    "runtime/job/storage", "runtime/job/context",
                    "runtime/job/tasks", "runtime/job/search"],
    "runtime/agent": ["runtime/base", "runtime/graph", "runtime/exec",
                      "routing", "kvstore"],
    "runtime/sim": ["runtime/base", "runtime/graph", "runtime/exec",
                    "routing", "kvstore", "runtime/agent"],
}
# Above routing each of its rooms is open.
ROUTING = [_room for _room in LAYERS if _room.startswith("routing")]
for _package, _below in LAYERS.items():
    if "routing" in _below and _package not in ROUTING:
        _below += [_room for _room in ROUTING if _room not in _below]
# So are those of a job's part to agents.
JOB = [_room for _room in LAYERS if _room.startswith("runtime/job")]
for _package in ("runtime/agent", "runtime/sim"):
    LAYERS[_package] += JOB
LIBRARIES = list(LAYERS)
# Folders of the command line: each may include those that stand before it and
# are named.
APP_FOLDERS = {
    "process": [],
    "keys": ["process"],
    "rendezvous": ["process"],
    "report": ["process"],
    "agent": ["process", "keys", "rendezvous"],
    "host": ["process", "keys", "rendezvous", "report", "agent"],
    "client": ["process", "keys", "rendezvous", "report", "agent"],
    "writers": ["process", "keys", "report", "client"],
    "run": ["process", "keys", "rendezvous", "report", "agent", "client",
            "writers"],
    "jobs": ["process", "keys", "rendezvous", "report", "agent", "client",
             "writers", "run"],
    "door": ["process", "keys", "rendezvous", "report", "agent", "client",
             "run", "jobs"],
    "cli": ["process", "keys", "rendezvous", "report", "agent", "host",
            "client", "run", "jobs", "door"],
}
for _folder, _below in APP_FOLDERS.items():
    LAYERS["apps/dogged/" + _folder] = [
        *LIBRARIES, "apps", *("apps/dogged/" + other for other in _below)]
LAYERS["apps"] = list(LAYERS)
# libdogged is for processes of others: it has nothing of this tree, nor Abseil.
LAYERS["apps/client"] = []
# The dictionary is tested without a task graph; runtime/sim has fakes of the
# disk and of memory.
LAYERS["tests/kvstore"] = ["runtime/base", *ROUTING, "kvstore", "runtime/sim",
                           "tests"]
LAYERS["tests"] = list(LAYERS)

# package: headers that it may not include although the table above allows it.
EXCEPT = {
    **{room: ["runtime/base/label.h", "runtime/base/value.h"]
       for room in ROUTING},
    "runtime/sim": ["runtime/exec/pool.h", "runtime/exec/worker_threads.h"],
}
# Headers of adapters that only executables link: apps and tests include them.
ADAPTER_HEADERS = ["kvstore/storage/rocksdb_engine.h", "routing/memory/arena.h",
                   "routing/memory/host_transport.h",
                   "routing/fabric/fabric_transport.h",
                   "runtime/exec/cpu_layout_hwloc.h"]

# outside header (a trailing / means the folder): where it may stand. Paths are
# files, file patterns, or folders with a trailing /.
SOCKETS = ["routing/control/control_client.cc", "routing/control/control_socket.cc",
           "routing/control/first_answer.cc",
           "routing/control/health_port.cc",
           "routing/control/listening_socket.cc", "routing/fabric/",
           "routing/memory/host_transport.cc", "routing/control/poller.cc",
           "routing/control/send_parts.cc",
           "routing/control/socket_address.cc",
           "routing/control/socket_address.h",
           "apps/client/client_job.cc", "apps/client/client_process.cc",
           "apps/client/client_wire.cc",
           "apps/dogged/door/door_channel.cc",
           "apps/dogged_bench/peers/stores.cc",
           "apps/dogged_bench/peers/tcp.cc", "tests/"]
OUTSIDE = {
    "CLI/": ["apps/dogged/cli/"],
    "arpa/inet.h": SOCKETS,
    "benchmark/": ["tests/bench/"],
    "cblas.h": ["apps/tiles/blas.cc", "apps/dogged_bench/"],
    "cxxabi.h": ["runtime/exec/kernels/c_kernel.cc"],
    "dirent.h": ["routing/fabric/port_filter.cc"],
    "dlfcn.h": ["apps/client/client_process.cc", "apps/tiles/blas.cc",
                "runtime/exec/kernels/kernel_library.cc",
                "runtime/exec/kernels/kernel_call_server.cc",
                "runtime/exec/kernels/kernel_jail.cc",
                "routing/fabric/fabric_module.cc", "routing/fabric/provider_list.cc",
                "kvstore/storage/rocksdb_module.cc",
                # Looks up a function as libraries do.
                "tests/routing/fabric_transport_test.cc"],
    "dogged_commit.h": ["apps/dogged/host/build_facts.cc"],
    "gmock/": ["tests/"],
    "gnu/libc-version.h": ["apps/tiles/numeric_class.cc"],
    "gtest/": ["tests/"],
    "hwloc.h": ["runtime/exec/cpu_layout_hwloc.cc"],
    "isl/": ["dsl/isl/", "dsl/nest/"],
    "linux/capability.h": ["runtime/exec/kernels/private_view.cc"],
    "linux/filter.h": ["routing/fabric/port_filter.cc",
                       "tests/routing/first_answer_test.cc"],
    "linux/landlock.h": ["runtime/exec/kernels/private_view.cc"],
    "link.h": ["apps/dogged/process/huge_page_code.cc"],
    "malloc.h": ["apps/dogged/process/freed_memory.cc",
                 "apps/dogged/process/memory.cc", "tests/"],
    "mpi.h": ["apps/dogged_bench/peers/halo.cc",
              "apps/dogged_bench/peers/mpi.cc",
              "apps/dogged_bench/peers/scalapack.cc"],
    "netdb.h": SOCKETS,
    "netinet/": SOCKETS,
    "nlohmann/": ["apps/", "tests/"],
    "openssl/": ["routing/trust/", "routing/control/secure_channel.cc",
                 "tests/routing/site_authority.cc",
                 "tests/routing/site_authority.h"],
    "omp.h": ["apps/dogged_bench/"],
    "oneapi/": ["apps/dogged_bench/peers/tbb.cc"],
    "png.h": ["apps/output/png.cc"],
    "poll.h": SOCKETS + ["runtime/exec/event_count.cc",
                         "apps/dogged/agent/join_sources.cc",
                         "apps/dogged/run/local_agents.cc",
                         "routing/memory/shared_file.cc",
                         "runtime/exec/kernels/compile_turn.cc",
                         "runtime/exec/kernels/kernel_process.cc"],
    "pthread.h": ["apps/client/handle_table.cc"],
    "rdma/": ["routing/fabric/"],
    "rocksdb/": ["kvstore/storage/rocksdb_engine.cc"],
    "sched.h": ["runtime/exec/cpu_layout_hwloc.cc",
                "runtime/exec/kernels/private_view.cc",
                "runtime/exec/kernels/system_call_filter.cc", "tests/"],
    "seccomp.h": ["runtime/exec/kernels/system_call_filter.cc"],
    "simgrid/": ["apps/dogged_bench/peers/simgrid.cc"],
    "spawn.h": ["apps/client/client_process.cc",
                "apps/dogged/run/local_agents.cc", "apps/dogged_bench/",
                "runtime/exec/kernels/kernel_process.cc",
                "runtime/exec/kernels/kernel_library.cc", "tests/"],
    "starpu.h": ["apps/dogged_bench/peers/starpu.cc"],
    "sys/epoll.h": SOCKETS,
    "sys/file.h": ["runtime/exec/kernels/compile_turn.cc"],
    "sys/inotify.h": ["runtime/exec/kernels/compile_turn.cc"],
    "sys/eventfd.h": SOCKETS + ["runtime/exec/event_count.cc",
                                "runtime/exec/kernels/kernel_processes.cc"],
    "sys/platform/x86.h": ["apps/tiles/numeric_class.cc"],
    "sys/ioctl.h": ["apps/dogged/report/progress_printer.cc",
                    "runtime/exec/kernels/system_call_filter.cc",
                    "tests/routing/host_transport_test.cc"],
    "stddef.h": ["apps/client/dogged.h"],
    "stdint.h": ["apps/client/dogged.h"],
    "sanitizer/asan_interface.h": ["runtime/base/small_blocks.h"],
    "sys/mman.h": ["apps/client/lent_memory.cc",
                   "apps/dogged/door/shared_values.cc",
                   "apps/dogged/process/huge_page_code.cc",
                   "apps/dogged_bench/hop_bench.cc",
                   "apps/dogged_bench/stamps.cc",
                   "apps/output/mapped_value.cc",
                   "apps/tiles/blas.cc", "routing/fabric/fabric_buffers.h",
                   "routing/memory/shared_file.cc",
                   "runtime/exec/kernels/kernel_region.cc",
                   "runtime/exec/kernels/system_call_filter.cc",
                   "runtime/exec/tile_pool.cc",
                   "tests/exec/tile_pool_test.cc",
                   "tests/routing/arena_test.cc",
                   "tests/routing/fabric_transport_test.cc"],
    "sys/random.h": ["routing/fabric/fabric_transport.cc"],
    "sys/statvfs.h": ["apps/dogged/host/system_findings.cc"],
    "sys/mount.h": ["runtime/exec/kernels/private_view.cc"],
    "sys/syscall.h": ["apps/client/client_process.cc", "tests/client/",
                      "routing/memory/shared_file.cc",
                      "runtime/exec/kernels/private_view.cc"],
    "time.h": ["apps/dogged/agent/leave_signals.cc",
               "apps/dogged/run/interrupt.cc"],
    "sys/prctl.h": ["apps/dogged/run/local_agents.cc",
                    "runtime/exec/kernels/kernel_call_server.cc",
                    "runtime/exec/kernels/private_view.cc",
                    "runtime/exec/kernels/system_call_filter.cc"],
    "sys/socket.h": SOCKETS + ["apps/dogged/run/local_agents.cc",
                               "runtime/exec/kernels/kernel_call_server.cc",
                               "runtime/exec/kernels/kernel_process.cc"],
    "sys/timerfd.h": ["routing/fabric/fabric_transport.cc", "routing/control/poller.cc"],
    "sys/uio.h": SOCKETS,
    "sys/utsname.h": ["apps/dogged/host/system_findings.cc"],
    "sys/wait.h": ["apps/client/client_process.cc",
                   "apps/dogged/run/local_agents.cc", "apps/dogged_bench/",
                   "apps/tiles/blas.cc",
                   "runtime/exec/kernels/kernel_process.cc",
                   "runtime/exec/kernels/kernel_library.cc", "tests/"],
    "tbb/": ["apps/dogged_bench/"],
    "xxh_x86dispatch.h": ["runtime/base/hash.cc"],
    "xxhash.h": ["runtime/base/hash.cc"],
    "zlib.h": ["apps/output/apng.cc"],
}
# Any of these may stand in the files above, and in apps and tests.
POSIX = ["fcntl.h", "signal.h", "sys/resource.h", "sys/stat.h", "sys/time.h",
         "sys/types.h", "unistd.h"]
POSIX_FILES = sorted({f for where in OUTSIDE.values() for f in where}
                     | {"apps/", "tests/", "dsl/kernels/c_kernels.cc",
                        "runtime/base/log.cc"})

# Time is virtual there.
SIMGRID = "apps/dogged_bench/peers/simgrid.cc"

# (pattern, what to use instead, where it may stand)
BANNED = [
    (r"\w+_clock\b|\babsl::Now\b", "the Clock port",
     ["runtime/base/clock.cc", "runtime/base/wall_time.cc", SIMGRID]),
    (r"\bs?rand\s*\(|\brandom_device\b|\bmt19937", "Rng and its streams",
     ["apps/dogged/process/environment.cc"]),
    (r"\bstd::j?thread\b", "WorkerThreads",
     ["runtime/exec/worker_threads.h", "runtime/exec/worker_threads.cc",
      "kvstore/storage/rocksdb_engine.cc",
      # Joins no thread that a resolver holds.
      "apps/dogged/rendezvous/rendezvous.cc",
      "apps/client/client_wire.h", "apps/client/client_wire.cc",
      "apps/dogged_bench/", "tests/"]),
    (r"\bsleep_(for|until)\b|\bu?sleep\s*\(|\bnanosleep\b|\bSleepFor\b",
     "a wait for the event itself", [SIMGRID]),
    (r"\b(secure_)?getenv\b", "an option",
     ["apps/dogged/process/environment.cc", "apps/client/client_process.cc",
      "tests/"]),
    (r"\babsl::Hash\b|\bstd::hash\b", "runtime/base/hash.h", []),
    (r"\bstd::cout\b|\bstdout\b|(?<!\w)printf\s*\(|\bputs\s*\(",
     "a returned string, or Log()", ["apps/", "tests/"]),
    (r"\bstd::string_view\b", "absl::string_view", []),
    (r"\babsl::optional\b", "std::optional", []),
    (r"\bthrow\b", "absl::Status", ["tests/"]),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
LIBRARY = re.compile(r"^dogged_library\(NAME\s+(\w+)([^)]*)\)", re.M)
LINK = re.compile(r"^target_link_libraries\(dogged_(\w+)([^)]*)\)", re.M)


def package_of(path):
    """The package that `path` belongs to, or None."""
    found = [p for p in LAYERS if path.startswith(p + "/")]
    return max(found, key=len) if found else None


def stands_in(path, places):
    return any(fnmatch.fnmatch(path, place + "*" if place[-1] == "/" else place)
               for place in places)


def check_include(path, quote, header):
    """The problem with `path` including `header`, or None."""
    package = package_of(path)
    target = package_of(header)
    if header.startswith("absl/"):
        return (f"{package} may not include {header}"
                if package == "apps/client" else None)
    if target is not None:
        if target not in (package, *LAYERS[package]):
            return f"{package} may not include {target} ({header})"
        if header in EXCEPT.get(package, []):
            return f"{package} may not include {header}"
        if (header in ADAPTER_HEADERS
                and package.split("/")[0] not in ("apps", "tests")
                and path not in (header[:-2] + ".cc",
                                 "kvstore/storage/rocksdb_module.h")
                and not path.startswith("routing/fabric/")):
            return f"only apps and tests may include the adapter {header}"
        if target.startswith("tests") and not package.startswith("tests"):
            return f"nothing includes tests ({header})"
        return None
    for outside, places in OUTSIDE.items():
        if header == outside or (outside[-1] == "/"
                                 and header.startswith(outside)):
            if stands_in(path, places):
                return None
            return f"<{header}> may stand in {', '.join(places)} only"
    if header in POSIX:
        if stands_in(path, POSIX_FILES):
            return None
        return f"<{header}> may stand in adapters and apps only"
    if quote == '"':
        return f'"{header}" is not written from the root'
    if "." in header or "/" in header:
        return (f"<{header}> has no row in OUTSIDE of tests/lint/layers.py: "
                "which one file is its adapter?")
    return None


def check_source(path, text):
    """All problems of one file, as lines."""
    problems = []
    for match in INCLUDE.finditer(text):
        problem = check_include(path, match.group(1), match.group(2))
        if problem:
            line = text.count("\n", 0, match.start(2)) + 1
            problems.append(f"{path}:{line}: {problem}")
    code = source.blank(text)
    for pattern, instead, places in BANNED:
        if stands_in(path, places):
            continue
        for match in re.finditer(pattern, code):
            line = code.count("\n", 0, match.start()) + 1
            problems.append(f"{path}:{line}: {match.group(0).strip()} is "
                            f"banned here: use {instead}")
    return problems


def check_targets(cmake):
    """`cmake`: path of a CMakeLists.txt -> text. Links obey the same table."""
    package_of_target = {}
    links = []
    for path, text in cmake.items():
        for match in LIBRARY.finditer(text):
            package_of_target[match.group(1)] = package_of(path)
            links.append((path, match.group(1), match.group(2)))
        links += [(path, m.group(1), m.group(2)) for m in LINK.finditer(text)]
    problems = []
    for path, name, body in links:
        package = package_of_target.get(name)
        if package is None:
            continue
        for other in re.findall(r"\bdogged::(\w+)", body):
            target = package_of_target.get(other)
            if target and target not in (package, *LAYERS[package]):
                problems.append(f"{path}: {package} may not link "
                                f"dogged::{other} of {target}")
    return problems


def main(root):
    problems = []
    for path in source.files(root, ".h", ".cc"):
        problems += check_source(path, source.read(root, path))
    problems += check_targets({path: source.read(root, path) for path in
                               source.files(root, "CMakeLists.txt")})
    return source.report("layers", problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
