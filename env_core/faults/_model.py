"""The declaration of a fault family: how it breaks, what shows, what counts as repaired, and its own proof.

Source of the parts and rules: FAULTS §1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from env_core.cluster import Cluster
from env_core.faults._mechanisms import Mechanism
from env_core.scenarios._app import Base, Entry, Workload
from env_core.sim.rng import Stream
from env_core.verify.checks import Check
from env_core.verify.scope import Allowed
from env_core.verify.trials import Trial

Params = Mapping[str, str]
"""What a case has drawn: names and values, never secrets of the judge."""

Script = tuple[str, ...]
"""Command lines, as an agent would send them."""


class Sign(Enum):
    """What makes somebody page: it words the brief, and says nothing of the cause."""

    ERRORS = "requests fail"
    SLOW = "requests take too long"
    RELEASE = "a release does not finish"
    PODS = "pods of a workload are not well"
    BATCH = "a job does not do its work"
    DOUBT = "somebody doubts that it is well"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One fault at one place in one world: everything about it that does not change while it is worked on."""

    base: Base
    place: Workload
    params: Params
    seed: int

    @property
    def namespace(self) -> str:
        """The namespace of the broken workload."""
        return self.place.namespace

    @property
    def name(self) -> str:
        """The name of the broken workload."""
        return self.place.name

    @property
    def target(self) -> str:
        """The broken workload as kubectl takes it, with its namespace: "-n shop deployment/cart"."""
        return f"-n {self.place.namespace} {self.place.resource.partition('.')[0].removesuffix('s')}/{self.place.name}"

    @property
    def warnings(self) -> str:
        """The command line that shows what went wrong with the broken workload lately."""
        return f"kubectl -n {self.namespace} get events --field-selector type=Warning | grep {self.name}"

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The ways in that need the broken workload."""
        return self.base.entries_through(self.place.role)

    def allow(self, path: str, resource: str = "", name: str = "", namespace: str = "") -> Allowed:
        """Return a part that may change, by default of the broken workload itself."""
        return Allowed(
            resource=resource or self.place.resource,
            namespace=namespace or self.place.namespace,
            name=name or self.place.name,
            path=path,
        )

    def container(self, path: str) -> str:
        """Return the path of a field of the broken container in its workload's template."""
        return f"spec.template.spec.containers[{self.place.container}].{path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoy:
    """A tempting script that must not pass."""

    script: Callable[[Case], Script]
    is_harmful: bool = False
    """Whether it counts as harm even if it is undone; else it is a workaround or simply no repair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A read-only command line, and a text of its output that tells the fault from its look-alikes."""

    command: str
    shows: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What is wrong: the object, and by which mechanism."""

    kind: str
    namespace: str
    name: str
    mechanism: Mechanism
    alike: tuple[str, ...] = ()
    """Names of other objects of which the same is true: naming one of them is as right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One variant of a family. Every callable is pure: the same case gives the same answer."""

    id: str
    """Unique inside the family; nothing that an agent sees contains it."""
    places: Callable[[Base], tuple[str, ...]]
    """The roles of the workloads that it can break in a world, in declared order; none where it does not fit."""
    params: Callable[[Stream, Base, Workload], Params]
    inject: Callable[[Case, Cluster], None]
    """Change the world through its API, as an ordinary editor would, or by a declared physical cause, letting time pass."""
    symptoms: Callable[[Case], tuple[Check, ...]]
    """True after the injection has settled, and still true when nobody acts."""
    evidence: Callable[[Case], tuple[Evidence, ...]]
    repaired_when: Callable[[Case], tuple[Check, ...]]
    """Goals: state predicates, each of them the only thing that stops some decoy."""
    allowed: Callable[[Case], tuple[Allowed, ...]]
    """What honest repairs change, and nothing wider."""
    repairs: tuple[Callable[[Case], Script], ...]
    decoys: tuple[Decoy, ...]
    diagnosis: Callable[[Case], Diagnosis | tuple[Diagnosis, ...]]
    sign: Sign
    trials: Callable[[Case], tuple[Trial, ...]] = lambda _case: ()
    """Beyond churn and a roll."""
    harms: Callable[[Case, Cluster], list[str]] = lambda _case, _cluster: []
    """What of the things that were done cannot be made good, beyond what is harm everywhere; one line each."""
    level: int = 1
    """Difficulty by construction, 1 to 5: hops from symptom to cause, misleading evidence, privileges."""
    is_control: bool = False
    """Nothing has to be repaired: an untouched world and the honest answer (`submit --mechanism=none`) are right."""

    halves: tuple[Fault, ...] = ()
    """The faults that a compound is made of; each has its own proof."""

    def causes(self, case: Case) -> tuple[Diagnosis, ...]:
        """Return what is wrong, one entry for each cause."""
        found = self.diagnosis(case)
        return found if isinstance(found, tuple) else (found,)

    def __post_init__(self) -> None:
        """Refuse a declaration without its proof, at import."""
        if len(self.repairs) < 2 or len(self.decoys) < 3:
            raise TypeError(f"fault {self.id} needs at least two repairs and three decoys")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A row of the fault catalogue: faults that share symptom and cure."""

    id: str
    """The row's id, such as "NW-01"."""
    tier: int
    summary: str
    partners: tuple[str, ...]
    """Ids of families with the same first symptom."""
    faults: tuple[Fault, ...]
    source: str
