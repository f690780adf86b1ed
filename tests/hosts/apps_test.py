"""Aim: programs of apps/ have the bits of one agent on hosts of which one dies,
one is unplugged, some come late, or all have slow links. Method: real processes
on hosts of their own; nothing is timed, everything is waited for.

    apps_test.py DOGGED SOURCE CASE
"""

import json
import os
import subprocess
import sys
import tempfile

from agents import Fleet
from hosts import Hosts, enter_own_network

# Some seconds on two processors, but for slow links.
SIZES = {
    "heat2d": ["N=1500", "T=1200"],
    "cholesky": ["N=3072", "NB=128"],
    "lu": ["N=2048", "NB=96"],
    "wave2d": ["N=1200", "T=800"],
    "qr": ["N=3072", "NB=128"],
    "heat3d": ["N=160", "T=300"],
    "wavefront": ["N=1000"],
    "jacobi": ["N=200"],
}


def words_for(source, app):
    words = [os.path.join(source, f"apps/{app}/{app}.dog")]
    for size in SIZES[app]:
        words += ["-D", size]
    return words


def digest_alone(dogged, words):
    done = subprocess.run([dogged, "run", *words, "--json"], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)["result_digest"]


def on_hosts(dogged, source, app, count, during, started=None, mbit=None):
    """The program on `count` hosts, on `started` of them from the start;
    `during(hosts, fleet, client)` as it runs. Its report."""
    words = words_for(source, app)
    expected = digest_alone(dogged, words)
    started = started or count
    with Hosts(count) as hosts, Fleet(dogged, hosts, started) as fleet:
        if mbit:
            for i in range(count):
                hosts.limit(i, mbit)
        fleet.await_views({i: range(started) for i in range(started)})
        client = fleet.run(*words)
        during(hosts, fleet, client)
        report = client.report()
        assert report["result_digest"] == expected, (app, report)
        print(f"{app}: {report['tasks_executed']} tasks of "
              f"{report['tasks_needed']}, {report['bytes_sent'] / 1e6:.0f} MB")
        return report


def kill(dogged, source):
    def one_dies(_, fleet, client):
        fleet.await_progress(client, 0.3)
        fleet.agents[2].kill()
    for app in ("heat2d", "cholesky"):
        report = on_hosts(dogged, source, app, 3, one_dies)
        assert report["agents_lost"] == 1, report


def unplug(dogged, source):
    def one_is_unplugged(hosts, fleet, client):
        fleet.await_progress(client, 0.3)
        hosts.unplug(2)
        fleet.await_views({0: [0, 1], 1: [0, 1]})
        hosts.plug_in(2)
        fleet.await_views({i: [0, 1, 2] for i in range(3)})
    for app in ("lu", "wave2d"):
        on_hosts(dogged, source, app, 3, one_is_unplugged)


def join(dogged, source):
    def two_come(_, fleet, client):
        fleet.await_progress(client, 0.2)
        fleet.start()
        fleet.start()
    for app in ("qr", "heat3d"):
        report = on_hosts(dogged, source, app, 4, two_come, started=2)
        assert report["agents_joined"] == 2, report


def slow(dogged, source):
    for app in ("wavefront", "jacobi"):
        on_hosts(dogged, source, app, 3, lambda *_: None, mbit=20)
    on_hosts(dogged, source, "cholesky", 3, links_are_known, mbit=100)


def links_are_known(_, fleet, client):
    """`status` tells the rate of a link that much goes over."""
    links = []
    while client.process.poll() is None:
        links = [link for agent in fleet.status(0)["agents"]
                 for link in agent.get("links", [])]
        rates = [link["bytes_per_second"] for link in links
                 if "bytes_per_second" in link]
        # The link has 12.5 million; some of it is taken by others.
        if rates and all(1e6 < rate < 25e6 for rate in rates) and all(
                0 < link.get("round_trip_seconds", 0) < 2 for link in links):
            return
    raise AssertionError(links)


def main():
    enter_own_network()
    dogged, source, case = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        {"kill": kill, "unplug": unplug, "join": join, "slow": slow}[case](
            dogged, source)


if __name__ == "__main__":
    main()
