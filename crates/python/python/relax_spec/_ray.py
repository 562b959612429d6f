"""A campaign on Ray. Ray starts the actors and finds out when one is lost; here is only what it cannot know: which ranges of
programs are asked about, and which are asked about again.
"""

import collections
import queue
import subprocess
import sys
import threading
import time

import ray
from ray.exceptions import RayError, RayTaskError

from relax_spec.campaign import ADAPTER, MOST, STOPPED, CampaignError, merging, next_program

#: How often a range may be lost before the campaign gives up: it ends whoever asks about it.
PATIENCE = 5
#: How often progress is told, in seconds.
TELL = 5.0


@ray.remote(num_cpus=1, max_restarts=0)
class Asker:
    """An oracle in this process, and an implementation in a child."""

    def __init__(self, arguments):
        self.arguments = arguments

    def begin(self):
        """An error of this call, other than the loss of the actor, is one of the implementation."""
        from relax_spec import _command, _native

        _command.surroundings()
        self.recorder = _native.Recorder(self.arguments)

    def ask(self, first, end):
        """The records of a range of programs, and how long they took."""
        begun = time.monotonic()
        return self.recorder.record(first, end), time.monotonic() - begun


class Ranges:
    """The ranges of programs that have to be asked about: those that were lost, then new ones."""

    def __init__(self, first, end, actors, deadline):
        self.next, self.end, self.actors, self.deadline = first, end, actors, deadline
        self.lost = collections.deque()
        self.losses = collections.Counter()

    @property
    def is_late(self):
        return self.deadline is not None and time.monotonic() >= self.deadline

    @property
    def is_left(self):
        return bool(self.lost) or not self.is_late and (self.end is None or self.next < self.end)

    def take(self):
        """The next range. Ranges grow smaller towards the end, so that all actors end at about the same time."""
        if self.lost:
            return self.lost.popleft()
        if not self.is_left:
            return None
        block = self.next - self.next % MOST + MOST
        size = MOST if self.end is None else max(1, (self.end - self.next) // (2 * self.actors))
        first, self.next = self.next, min(self.next + size, block, self.end or block)
        return first, self.next

    def give_back(self, asked):
        """What was given is done again, whatever the time: later programs are only handled after it."""
        self.losses[asked] += 1
        if self.losses[asked] >= PATIENCE:
            raise CampaignError(f"the programs {asked[0]} to {asked[1] - 1} ended {PATIENCE} actors", ADAPTER)
        self.lost.append(asked)


class Merger:
    """The process that merges records, in the order in which they come in."""

    def __init__(self, line):
        self.process = subprocess.Popen([*line, "--merge", "-"], stdin=subprocess.PIPE, text=True, encoding="utf-8")
        self.records = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._write, daemon=True)
        self.thread.start()

    def _write(self):
        try:
            for line in iter(self.records.get, None):
                self.process.stdin.write(f"{line}\n")
            self.process.stdin.close()
        except BrokenPipeError:
            # It has ended, and has said why.
            pass

    def take(self, lines):
        for line in lines:
            self.records.put(line)

    @property
    def is_at_work(self):
        return self.process.poll() is None

    def end(self):
        """Its exit status, when it has handled everything."""
        self.records.put(None)
        self.thread.join()
        return self.process.wait()


class Crew:
    """The actors, and the range that each is asking about."""

    def __init__(self, arguments, ranges, tell):
        self.arguments, self.ranges, self.tell = arguments, ranges, tell
        #: By what is waited for: the actor, and its range; none while it begins.
        self.waiting = {}
        self.idle = []
        self.lost = self.asked = 0
        #: When each actor got its first range, how long those that were lost had one, and how long all have asked.
        self.since, self.gone, self.busy = {}, 0.0, 0.0

    def hire(self):
        actor = Asker.remote(self.arguments)
        self.waiting[actor.begin.remote()] = actor, None

    def hand_out(self, actor):
        asked = self.ranges.take()
        if asked is None:
            self.idle.append(actor)
            return
        self.since.setdefault(actor, time.monotonic())
        self.waiting[actor.ask.remote(*asked)] = actor, asked

    def lose(self, actor, asked, error):
        """An actor, its process or its node is lost. Another one takes its place as soon as there is room."""
        now = time.monotonic()
        self.lost += 1
        self.gone += now - self.since.pop(actor, now)
        where = f"the programs {asked[0]} to {asked[1] - 1} are handed out again" if asked else "it had not begun"
        self.tell(f"an actor is lost ({type(error).__name__}): {where}")
        ray.kill(actor)
        self.hire()
        if asked:
            self.ranges.give_back(asked)
            if self.idle:
                self.hand_out(self.idle.pop())
        elif self.lost > PATIENCE * self.ranges.actors and not self.asked:
            raise CampaignError("no actor begins", ADAPTER)

    @property
    def is_at_work(self):
        return self.ranges.is_left or any(asked for _, asked in self.waiting.values())

    def step(self, merger):
        """Takes one result, if there is one."""
        ready, _ = ray.wait(list(self.waiting), num_returns=1, timeout=1.0)
        for reference in ready:
            actor, asked = self.waiting.pop(reference)
            try:
                result = ray.get(reference)
            except RayTaskError as error:
                raise CampaignError(str(error.cause), ADAPTER) from None
            except RayError as error:
                self.lose(actor, asked, error)
                continue
            if asked:
                lines, busy = result
                merger.take(lines)
                self.asked += len(lines)
                self.busy += busy
            self.hand_out(actor)

    def overhead(self):
        """Which part of their time the actors did not ask."""
        end = time.monotonic()
        given = self.gone + sum(end - since for since in self.since.values())
        return 1 - self.busy / given if given else 0.0


def _tell(text):
    print(text, file=sys.stderr, flush=True)


def _work(crew, merger, count):
    begun = told = time.monotonic()
    while crew.is_at_work:
        if not merger.is_at_work:
            return
        crew.step(merger)
        now = time.monotonic()
        if now - told >= TELL:
            told = now
            actors = len({actor for actor, asked in crew.waiting.values() if asked})
            crew.tell(f"{crew.asked}{count} programs asked about by {actors} actors, {crew.asked / (now - begun):.1f} a second")
    share = crew.overhead()
    crew.tell(f"{crew.asked}{count} programs asked about; {crew.lost} actors lost; actors waited {share:.1%} of their time")


def campaign(given, fuzz, tell=_tell):
    """Runs a campaign on Ray. Returns the exit status of `relax-spec fuzz`."""
    if not ray.is_initialized():
        ray.init(address=None if given.ray == "local" else given.ray, log_to_driver=False, include_dashboard=False)
    actors = given.actors or max(1, int(ray.cluster_resources().get("CPU", 1)))
    first = next_program(given.out, given.seed)
    if given.programs is None and given.time is None:
        given.programs = first + 1000
    if given.programs is not None and first >= given.programs:
        tell(f"all {given.programs} programs of seed {given.seed} are done")
        return 0
    merger = Merger(merging(given, fuzz, first, []))
    deadline = None if given.time is None else time.monotonic() + given.time
    ranges = Ranges(first, given.programs, actors, deadline)
    crew = Crew([*fuzz, "--seed", str(given.seed)], ranges, tell)
    count = "" if given.programs is None else f" of {given.programs - first}"
    interrupted = False
    try:
        for _ in range(actors):
            crew.hire()
        _work(crew, merger, count)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        # What has come in is merged, whatever happened.
        status = merger.end()
        for actor, _ in crew.waiting.values():
            ray.kill(actor)
    return STOPPED if interrupted else status
