"""docs/recipes/kubernetes on network namespaces.

Aim: agents as dogged.yaml has them find each other at the Service's name, are
ready when they serve, leave within their grace, and outlive what is done to
pods; a job that runs meanwhile, submitted by `kubectl exec`, has the bits of a
serial run. Method: this program is kubelet and DNS. A pod is a network, a file
system that is read-only but for its volumes, a /dev/shm of 64 MB, and process 1;
all else about it is read from dogged.yaml: commands, arguments, variables,
volumes, user, probes, grace, the name. Not played: control groups (each pod
gets one worker), the filter of system calls, and, for want of root, the user.

usage: kubernetes_test.py DOGGED SOURCE_DIR CASE
"""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import manifest
from hosts import Hosts, enter_own_network

DOGGED, SOURCE, CASE = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
sys.path.insert(0, os.path.join(SOURCE, "tests", "cluster"))
from resolver import Resolver  # noqa: E402
from standing import until  # noqa: E402

RECIPE = os.path.join(SOURCE, "docs", "recipes", "kubernetes", "dogged.yaml")
NODE = "10.124.0.254"  # where probes come from, and where the resolver is
PODS_MAX = 8
PROGRAM = (os.path.join(SOURCE, "apps", "heat1d", "heat1d.dog"),
           "-D", "N=400001", "-D", "T=60000")


def fail(words):
    raise SystemExit(words)


class Recipe:
    """What dogged.yaml says."""

    def __init__(self):
        with open(RECIPE) as file:
            found = {one["kind"]: one
                     for one in manifest.documents(file.read())}
        self.service, self.deployment = found["Service"], found["Deployment"]
        template = self.deployment["spec"]["template"]
        labels = template["metadata"]["labels"]
        for wanted in (self.service["spec"]["selector"],
                       self.deployment["spec"]["selector"]["matchLabels"],
                       found["PodDisruptionBudget"]["spec"]["selector"][
                           "matchLabels"]):
            if not wanted.items() <= labels.items():
                fail(f"{wanted} selects no pod of {labels}")
        self.pod = template["spec"]
        self.agent, = self.pod["containers"]
        self.grace = self.pod["terminationGracePeriodSeconds"]
        self.user = self.pod["securityContext"]
        if self.service["spec"]["clusterIP"] != "None":
            fail("one address would stand for all pods")
        self.name = self.service["metadata"]["name"]
        self.publishes_all = self.service["spec"].get(
            "publishNotReadyAddresses", False)


class Pod:
    """One that has an address, and begins at once."""

    def __init__(self, cluster, number):
        self.cluster, self.number = cluster, number
        self.recipe, self.hosts = cluster.recipe, cluster.hosts
        self.address = self.hosts.address(number)
        self.folder = os.path.join(cluster.folder, f"pod{number}")
        self.was_ready = self.is_ready = self.is_told = False
        self.failures = 0  # of the liveness probe, in a row
        os.makedirs(self.folder)
        for volume in self.recipe.pod["volumes"]:
            self.make_volume(volume)
        for container in self.recipe.pod["initContainers"]:
            done = subprocess.run(self.command(container), text=True,
                                  env=self.variables(container),
                                  capture_output=True, timeout=60)
            if done.returncode != 0:
                fail(f"{container['name']}: {done.returncode} {done.stderr}")
        self.log = os.path.join(self.folder, "log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                self.command(self.recipe.agent), stderr=log, stdout=log,
                env=self.variables(self.recipe.agent))

    def make_volume(self, volume):
        path = os.path.join(self.folder, volume["name"])
        os.mkdir(path)
        group = self.recipe.user["fsGroup"]
        if self.cluster.is_root:
            os.chown(path, -1, group)
        os.chmod(path, 0o2777)
        if "secret" not in volume:
            return
        # As the kubelet does it: links, and the group may read.
        data = os.path.join(path, "..data")
        os.mkdir(data)
        for name, text in self.cluster.secrets[
                volume["secret"]["secretName"]].items():
            file = os.path.join(data, name)
            with open(file, "w") as out:
                out.write(text)
            os.chmod(file, volume["secret"]["defaultMode"] | 0o440)
            if self.cluster.is_root:
                os.chown(file, 0, group)
            os.symlink(os.path.join("..data", name), os.path.join(path, name))

    def variables(self, container):
        out = {"PATH": os.environ["PATH"], "DOGGED_WORKERS": "1"}
        for one in container.get("env", []):
            value = one.get("value")
            if value is None:
                field = one["valueFrom"]["fieldRef"]["fieldPath"]
                value = {"status.podIP": self.address}[field]
            out[one["name"]] = value
        return out

    def words(self, container):
        variables = self.variables(container)
        words = container["command"] + container.get("args", [])
        if any(not isinstance(word, str) for word in words):
            fail(f"no strings: {words}")
        words = [re.sub(r"\$\((\w+)\)", lambda name: variables[name[1]], word)
                 for word in words]
        return [DOGGED if words[0] == "dogged" else words[0], *words[1:]]

    def as_user(self):
        """A command before one that the container's user runs."""
        user = self.recipe.user
        if not self.cluster.is_root:
            return []
        return ["setpriv", f"--reuid={user['runAsUser']}",
                f"--regid={user['runAsGroup']}", f"--groups={user['fsGroup']}",
                "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]

    def command(self, container):
        """The container as process 1 of namespaces of its own."""
        mounts = ["mount -t tmpfs -o size=64m shm /dev/shm",
                  "mount -t tmpfs run /run"]
        mounts += [f"mount --bind {self.cluster.folder}/{name} /etc/{name}"
                   for name in ("resolv.conf", "nsswitch.conf")]
        # Volumes of this test may lie in the host's /tmp.
        for one in sorted(container["volumeMounts"],
                          key=lambda one: one["mountPath"] == "/tmp"):
            path = one["mountPath"]
            mounts += [f"mkdir -p {path}",
                       f"mount --bind {self.folder}/{one['name']} {path}"]
            if one.get("readOnly"):
                mounts.append(f"mount -o remount,bind,ro {path}")
        if container["securityContext"]["readOnlyRootFilesystem"]:
            mounts.append("mount -o remount,bind,ro /")
        return self.hosts.command(
            self.number, "unshare", "--mount", "--pid", "--fork",
            "--mount-proc", "sh", "-ec",
            "\n".join(mounts) + '\nexec "$@"', "sh", *self.as_user(),
            *self.words(container))

    def first_process(self):
        """Process 1, as this program knows it."""
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return int(file.read().split()[0])

    def exec(self, *words):
        """`kubectl exec`; the text that it prints, or None."""
        command = ["nsenter", f"--target={self.first_process()}", "--net",
                   "--uts", "--mount", "--pid", "--", *self.as_user(), DOGGED,
                   *words]
        done = subprocess.run(command, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL,
                              env=self.variables(self.recipe.agent),
                              timeout=300)
        self.cluster.last_words = f"{words}: {done.returncode} {done.stderr}"
        return done.stdout if done.returncode == 0 else None

    def probe(self, name):
        """The status that a probe gets; 0: no answer."""
        probe = self.recipe.agent[name]
        connection = http.client.HTTPConnection(
            self.address, probe["httpGet"]["port"],
            timeout=probe.get("timeoutSeconds", 1))
        try:
            connection.request("GET", probe["httpGet"]["path"],
                               headers={"Connection": "close"})
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def take_away(self):
        """SIGTERM, the grace, SIGKILL."""
        self.is_told = True
        os.kill(self.first_process(), signal.SIGTERM)
        try:
            status = self.process.wait(timeout=self.recipe.grace)
        except subprocess.TimeoutExpired:
            fail(f"pod {self.number} is there after its grace:\n"
                 f"{self.said()}")
        if status != 0 or "told to leave by SIGTERM" not in self.said():
            fail(f"pod {self.number} ended with {status}:\n{self.said()}")

    def kill(self):
        # Process 1 alone: one that has changed its user outlives unshare.
        with contextlib.suppress(IndexError, FileNotFoundError):
            os.kill(self.first_process(), signal.SIGKILL)
        self.process.wait()

    def said(self):
        with open(self.log) as log:
            return log.read()


class Cluster(threading.Thread):
    """Control plane, kubelets and DNS."""

    def __init__(self, hosts):
        super().__init__(daemon=True)
        self.recipe, self.hosts = Recipe(), hosts
        # Root of a user namespace has no other users.
        self.is_root = "DOGGED_OWN_USERS" not in os.environ
        self.folder = tempfile.mkdtemp()
        os.chmod(self.folder, 0o755)
        self.pods = []  # that have an address, the oldest first
        self.used = 0   # addresses
        self.last_words = ""
        self.is_ending = threading.Event()
        self.restarts = []
        domain = "default.svc.cluster.local"
        self.write("resolv.conf", f"nameserver {NODE}\nsearch {domain} "
                   "svc.cluster.local cluster.local\noptions ndots:5\n")
        self.write("nsswitch.conf", "hosts: files dns\n")
        key = os.path.join(self.folder, "key")
        subprocess.run([DOGGED, "key", "new", "--file", key], check=True,
                       stdout=subprocess.DEVNULL)
        with open(key) as file:
            self.secrets = {"dogged-key": {"key": file.read()}}
        resolver = Resolver(NODE, f"{self.recipe.name}.{domain}")
        resolver.records = lambda: [
            pod.address for pod in list(self.pods)
            if self.recipe.publishes_all or pod.is_ready]
        resolver.start()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_ending.set()
        self.join()
        for pod in self.pods:
            pod.kill()
        shutil.rmtree(self.folder)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def run(self):
        """Probes, as kubelets do it, only more often."""
        while not self.is_ending.wait(0.1):
            for pod in list(self.pods):
                pod.is_ready = pod.probe("readinessProbe") == 200
                pod.was_ready = pod.was_ready or pod.is_ready
                if not pod.was_ready:
                    continue
                alive = pod.probe("livenessProbe") == 200
                pod.failures = 0 if alive else pod.failures + 1
                if (pod.failures >= self.recipe.agent["livenessProbe"][
                        "failureThreshold"] and not pod.is_told):
                    self.restarts.append(pod.number)

    def begin(self):
        self.used += 1
        self.pods.append(Pod(self, self.used - 1))

    def end(self, pod, take_away=True):
        pod.take_away() if take_away else pod.kill()
        self.pods.remove(pod)

    def scale(self, count):
        """`kubectl scale`: new pods, or the newest ones go, all at once."""
        while len(self.pods) < count:
            self.begin()
        threads = [threading.Thread(target=self.end, args=(pod,))
                   for pod in self.pods[count:]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(self.pods) != count:
            fail(f"{len(self.pods)} pods, not {count}")
        self.await_ready()

    def await_ready(self):
        """All pods are ready, and one cluster."""
        wanted = sorted(f"{pod.address}:7070" for pod in self.pods)

        def is_whole():
            return (all(pod.is_ready for pod in self.pods) and all(
                self.alive(pod) == wanted for pod in self.pods))
        try:
            until(f"{wanted} are one cluster", is_whole)
        except SystemExit as late:
            fail(f"{late}\n{self.last_words}\n" + "\n".join(
                f"pod {pod.number}: ready {pod.is_ready}, knows "
                f"{self.alive(pod)}\n{pod.said()}" for pod in self.pods))

    def exec(self, *words):
        """In some pod, at the name of the service."""
        return self.pods[-1].exec(
            words[0], "--cluster", f"dns:{self.recipe.name}:7070", *words[1:])

    def alive(self, pod):
        text = pod.exec("status", "--json", "--cluster", f"{pod.address}:7070")
        return text and sorted(a["address"] for a in json.loads(text)["agents"]
                               if a["state"] == "alive")

    def progress(self):
        text = self.exec("status", "--json")
        jobs = json.loads(text)["jobs"] if text else []
        return jobs[0]["progress"] if jobs else 0

    def await_progress(self, share):
        until(f"{share} of the job", lambda: self.progress() >= share)
        print(f"{time.strftime('%T')} {share} of the job, "
              f"{len(self.pods)} pods", flush=True)


def case_scale():
    with Hosts(PODS_MAX) as hosts, Cluster(hosts) as cluster:
        cluster.scale(2)
        founders = list(cluster.pods)
        job = cluster.exec("submit", *PROGRAM, "--agents", "4", "--workers",
                           "1")
        if job is None:
            fail(cluster.last_words)
        job = job.strip()
        cluster.await_progress(0.05)
        cluster.scale(4)
        cluster.await_progress(0.2)
        # A spot node is taken away, and its pod replaced; another one without
        # a word.
        cluster.end(founders[0])
        cluster.scale(4)
        cluster.await_progress(0.4)
        cluster.end(founders[1], take_away=False)
        cluster.scale(4)
        cluster.await_progress(0.6)
        cluster.scale(2)  # two leave at the same moment
        text = until("the job is done",
                     lambda: cluster.exec("wait", "--json", job), seconds=240)
        if cluster.restarts or not all(pod.was_ready for pod in cluster.pods):
            fail(f"restarted: {cluster.restarts}")
    serial = subprocess.run([DOGGED, "run", *PROGRAM, "--agents", "1",
                             "--json"], capture_output=True, text=True)
    wanted = json.loads(serial.stdout)["result_digest"]
    if json.loads(text)["result_digest"] != wanted:
        fail(f"{text}, not {wanted}")


if os.getuid() != 0:  # as it is in its namespaces
    os.environ["DOGGED_OWN_USERS"] = "1"
enter_own_network()
globals()["case_" + CASE]()
