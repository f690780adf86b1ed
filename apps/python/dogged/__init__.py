"""Stencils and tiled algebra on agents that come and go.

    import dogged
    with dogged.agents(4) as c:
        run = c.submit(dogged.load("heat.dog", N=401))
        u = run["u"]                 # waits; a NumPy array

See docs/PYTHON.md.
"""

from ._cluster import Cluster, agents, connect, join_file
from ._errors import (Cancelled, ClientGone, DoggedError, DoggedWarning,
                      ForkedError, Interrupted, JobFailed, Mistyped, NoAgents,
                      NoRoom, ProgramError, SimFailed)
from ._program import Program, load, program
from ._run import Run
from ._sim import SimResult, sim
from .builder import Builder, where

__version__ = "0.1.0"
__all__ = [
    "Builder", "Cancelled", "ClientGone", "Cluster", "DoggedError",
    "DoggedWarning",
    "ForkedError", "Interrupted", "JobFailed", "Mistyped", "NoAgents", "NoRoom",
    "Program", "ProgramError", "Run", "SimFailed", "SimResult", "agents",
    "connect", "join_file", "load", "program", "sim", "where"]
