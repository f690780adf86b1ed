#!/usr/bin/env python3
"""A Slurm cluster of its own on this one computer: real munged, slurmctld and
slurmd's, for tests of preemption.

  box run N[xCPUS] CMD...   up, CMD with SLURM_CONF set, down, whatever happens; CMD's exit status
  box up N[xCPUS]           up; prints `export SLURM_CONF=FOLDER/slurm.conf`, for eval
  box down [FOLDER]         down; without FOLDER that of SLURM_CONF
Nodes n1 to nN. Partitions: `low`, the default, whose jobs are preempted and requeued, and `high`, which preempts them.
  BOX_GRACE=5      GraceTime of low; while it runs: scontrol update PartitionName=low GraceTime=0
  BOX_KILLWAIT=5   KillWait, between SIGTERM and SIGKILL at the end of a job; slurmd takes no less than 5
  BOX_REQUEUE=5    a requeued job waits a second more than this; Slurm takes no less, and 120 by default
  BOX_PORT=17000   the first of N+1 ports; else free ones are found
  BOX_KEEP=1       the folder stays, with all logs
  TMPDIR           where the folder is made: within everybody's reach, as munged wants it
Debian 12: apt-get install --no-install-recommends munge slurmctld slurmd slurm-client. As root; no systemd, no cgroups."""
import contextlib, os, random, shutil, signal, socket, subprocess, sys, tempfile, time

CONF = """ClusterName=box; SlurmctldHost=localhost(127.0.0.1); SlurmctldPort={port}
AuthInfo=socket={dir}/munge.sock,cred_expire={requeue}
StateSaveLocation={dir}/ctld; SlurmctldPidFile={dir}/ctld/pid; SlurmctldLogFile={dir}/slurmctld.log
SlurmdSpoolDir={dir}/%n; SlurmdPidFile={dir}/%n/pid; SlurmdLogFile={dir}/%n.log
ProctrackType=proctrack/linuxproc; TaskPlugin=task/none; JobAcctGatherType=jobacct_gather/none; MailProg=/bin/true
SlurmdParameters=config_overrides; ReturnToService=2; KillWait={killwait}
SelectType=select/cons_tres; SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
PreemptType=preempt/partition_prio; PreemptMode=REQUEUE
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 GraceTime={grace}
PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF
""".replace("; ", "\n")  # one a line


def free_ports(count):
    """Below those that the kernel gives to clients, so that nobody gets one between this look and the daemons' start."""
    while True:
        base = random.randrange(10000, 32000)
        with contextlib.suppress(OSError):
            for port in range(base, base + count):
                socket.create_server(("", port)).close()
            return base


def ask(folder, *command):
    return subprocess.run(("timeout", "10") + command, env=dict(os.environ, SLURM_CONF=f"{folder}/slurm.conf"),
                          capture_output=True, text=True).stdout


def up(folder, shape):
    count, cpus = map(int, (shape + "x1").split("x")[:2])
    nodes = [f"n{i + 1}" for i in range(count)]
    get = lambda name: os.environ.get("BOX_" + name, 5)
    port = int(os.environ.get("BOX_PORT", 0)) or free_ports(count + 1)
    conf = CONF.format(dir=folder, port=port, grace=get("GRACE"), killwait=get("KILLWAIT"), requeue=get("REQUEUE"))
    conf += f"NodeName=n[1-{count}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{port + 1}-{port + count}] CPUs={cpus}\n"
    with contextlib.suppress(OSError):  # Slurm listens on all addresses, guarded by its key, or on that of the host's name
        if socket.gethostbyname(socket.gethostname()) == "127.0.0.1":
            conf += "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n"
    for name in ["ctld"] + nodes:
        os.mkdir(f"{folder}/{name}")
    open(f"{folder}/slurm.conf", "w").write(conf)
    open(f"{folder}/cgroup.conf", "w").write("CgroupPlugin=cgroup/v1\n")  # the one that looks for none unless it is used
    open(os.open(f"{folder}/munge.key", os.O_CREAT | os.O_WRONLY, 0o600), "wb").write(os.urandom(128))
    daemons = {}

    def start(name, *command):  # in a session of its own: Ctrl-C is for CMD and for this process
        with open(f"{folder}/{name}.out", "w") as out:
            daemons[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)

    def wait_for(what, condition):
        end = time.monotonic() + 60
        while not condition():
            for name, child in daemons.items():
                if child.poll() is not None:
                    raise RuntimeError(f"{name} has ended:\n" + open(f"{folder}/{name}.out").read()[-600:])
            if time.monotonic() > end:
                raise RuntimeError(f"{what}: not within 60 s")
            time.sleep(0.02)

    start("munged", "/usr/sbin/munged", "--foreground", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.sock",
          f"--pid-file={folder}/munge.pid", f"--seed-file={folder}/munge.seed")
    wait_for("munged", lambda: os.path.exists(f"{folder}/munge.sock"))
    start("slurmctld", "/usr/sbin/slurmctld", "-D", "-f", f"{folder}/slurm.conf")
    wait_for("slurmctld", lambda: "is UP" in ask(folder, "scontrol", "ping"))  # without it a slurmd tries again seconds later
    for node in nodes:
        start(node, "/usr/sbin/slurmd", "-D", "-N", node, "-f", f"{folder}/slurm.conf")
    wait_for("nodes", lambda: ask(folder, "sinfo", "-h", "-N", "-p", "low", "-o", "%t").split() == ["idle"] * count)


def processes(folder):
    """The box's daemons, its jobs' steps and what runs in them; not a shell that only knows SLURM_CONF."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words, env = (open(f"/proc/{pid}/{file}", errors="replace").read().split("\0") for file in ("cmdline", "environ"))
        except OSError:
            continue
        name = os.path.basename(words[0].split(":")[0])
        daemon = name in ("munged", "slurmctld", "slurmd") and any(folder + "/" in word for word in words)
        step = name == "slurmstepd" or any(word.startswith("SLURM_JOB_ID=") for word in env)
        if daemon or step and f"SLURM_CONF={folder}/slurm.conf" in env:
            yield int(pid)


def down(folder):
    end = time.monotonic() + 15
    ask(folder, "scancel", "-p", "low"), ask(folder, "scancel", "-p", "high")  # jobs first: SIGTERM, KillWait, SIGKILL
    while ask(folder, "squeue", "-h") and time.monotonic() < end:
        time.sleep(0.05)
    for sign in signal.SIGTERM, signal.SIGKILL:
        end = time.monotonic() + 5
        for pid in processes(folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sign)
        while any(processes(folder)) and time.monotonic() < end:
            time.sleep(0.05)
    if "BOX_KEEP" not in os.environ:
        shutil.rmtree(folder, ignore_errors=True)


def main(action, *words):
    if action == "down":
        folder = words[0] if words else os.path.dirname(os.environ.get("SLURM_CONF", ""))
        ours = os.path.basename(folder).startswith("box") and os.path.exists(f"{folder}/ctld")
        return down(folder) if ours else f"box: no box: '{folder}'"
    folder, command, (alive, end) = tempfile.mkdtemp(prefix="box"), None, os.pipe()
    os.chmod(folder, 0o755)
    watcher = os.fork()  # takes the box down when this process is gone, be it by SIGKILL
    if watcher == 0:
        os.setsid()
        os.close(end)
        os._exit(0 if os.read(alive, 1) else down(folder) or 0)
    for sign in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
        signal.signal(sign, lambda sign, frame: sys.exit(128 + sign))
    try:
        up(folder, words[0])
        if action == "up":
            os.write(end, b"x")  # the watcher may go
            return print(f"export SLURM_CONF={folder}/slurm.conf")
        status = (command := subprocess.Popen(words[1:], env=dict(os.environ, SLURM_CONF=f"{folder}/slurm.conf"))).wait()
        return status if status >= 0 else 128 - status
    except (RuntimeError, OSError) as e:
        return f"box: {e}"
    finally:
        if command and command.poll() is None:
            command.terminate()
        os.close(end)
        os.waitpid(watcher, 0)


if len(sys.argv) < {"up": 3, "run": 4, "down": 2}.get((sys.argv + [""])[1], 99):
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
