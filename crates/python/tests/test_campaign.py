"""Campaigns of several processes find what one process finds. The tests on Ray need it installed.

`RELAX_SPEC_PROGRAMS` and `RELAX_SPEC_ACTORS` ask for larger ones: 2000 programs, 64 simulated implementations.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time

import pytest

if importlib.util.find_spec("tvm"):
    pytest.skip("campaigns are tested where there is no TVM", allow_module_level=True)

HERE = pathlib.Path(__file__).parent
PROGRAMS = int(os.environ.get("RELAX_SPEC_PROGRAMS", 96))
ACTORS = int(os.environ.get("RELAX_SPEC_ACTORS", 4))
SIMULATED = [sys.executable, "-S", "-E", str(HERE / "simulated.py")]


def fuzz(*words):
    return ["--bindings", "12", "--reduce", "20", "--adapter", shlex.join([*SIMULATED, *words])]


CRASHING = [*fuzz("--crash", "23"), "--paths", "check"]


def contents(folder):
    """The findings and how far the campaign has come."""
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file() and path.name != "lock"}


def summary(report):
    """The last line of a report; how much is in it does not depend on who asked."""
    return json.loads(report.read_text().splitlines()[-1])


def run(*words, status=1):
    run = subprocess.run([sys.executable, "-m", *map(str, words)], capture_output=True, text=True, timeout=3000)
    assert run.returncode == status, (run.returncode, run.stdout[-3000:], run.stderr[-3000:])
    return run


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The folder and the report of one process."""
    out = tmp_path_factory.mktemp("alone")
    report = out.parent / "alone.jsonl"
    run("relax_spec", "fuzz", *CRASHING, "--runs", PROGRAMS, "--out", out, "--report", f"jsonl={report}")
    assert len(contents(out)) > 5
    return contents(out), summary(report)


def campaign(*words, **options):
    return run("relax_spec.campaign", *words, **options)


def test_partitions_find_the_same(tmp_path, alone):
    out, report = tmp_path / "found", tmp_path / "report.jsonl"
    given = ["--programs", PROGRAMS, "--out", out, *CRASHING]
    for part in range(3):
        campaign("--partition", f"{part}/3", *given, status=0)
    # One that was interrupted goes on where it was, and one that was not has nothing left to do.
    (part,) = (out / "records").glob("1-of-3.jsonl")
    whole = part.read_text()
    part.write_text(whole[: len(whole) // 2])
    assert "is not recorded" in campaign("--merge", *given, status=5).stderr
    environment = {"JOB_COMPLETION_INDEX": "1"}
    again = [sys.executable, "-m", "relax_spec.campaign", "--partition", "3", *map(str, given)]
    subprocess.run(again, env={**os.environ, **environment}, check=True, timeout=3000)
    assert part.read_text() == whole or len(part.read_text().splitlines()) == len(whole.splitlines())
    campaign("--merge", *given, "--report", f"jsonl={report}")
    assert contents(out) == alone[0]


def test_what_cannot_be_merged(tmp_path):
    records = tmp_path / "records.jsonl"
    asked = [*CRASHING, "--record", "0..2"]
    records.write_text(run("relax_spec", "fuzz", *asked, status=0).stdout)
    merge = ["relax_spec", "fuzz", "--merge", records, *CRASHING]
    assert "other options" in run(*merge, "--seed", "1", status=2).stderr
    records.write_text("{}\n")
    assert "line 1 of the records" in run(*merge, status=2).stderr
    assert "must ask about every program" in campaign("--partition", "0/2", "--out", tmp_path, status=2).stderr
    assert "no part has recorded anything" in campaign("--merge", "--out", tmp_path, status=2).stderr
    wrong = campaign("--partition", "2/2", "--programs", "4", "--out", tmp_path, status=2).stderr
    assert "parts count from 0" in wrong


def test_the_example_of_kubernetes(monkeypatch):
    from relax_spec.campaign import options

    monkeypatch.setenv("JOB_COMPLETION_INDEX", "7")
    text = (HERE.parents[2] / "docs" / "dev" / "campaign.yaml").read_text()
    commands = [json.loads(line.split("command: ")[1]) for line in text.splitlines() if "command: " in line]
    part, merge = (options().parse_known_args(command[3:]) for command in commands)
    assert part[0].partition == (7, 8) and merge[0].merge and part[1] == merge[1] == ["--adapter", "tvm@0.27"]


@pytest.fixture
def cluster(monkeypatch):
    ray = pytest.importorskip("ray", reason="Ray is not installed: no campaign on it is tested")
    from ray.cluster_utils import Cluster

    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # So that something is left when the test strikes.
    monkeypatch.setenv("SIMULATED_SLEEP", "0.1")
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    yield made
    ray.shutdown()
    made.shutdown()


def on_ray(cluster, out, fuzz, **given):
    import ray

    from relax_spec import _ray

    ray.init(address=cluster.address, log_to_driver=False)
    told = []
    given = {"ray": "local", "programs": PROGRAMS, "time": None, "actors": None, "seed": 0, "out": str(out), **given}
    return _ray.campaign(argparse.Namespace(**given), fuzz, told.append), told


def workers(raylet):
    """The processes of actors that a node has started."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            status = (process / "stat").read_text()
            is_actor = b"ray::Asker" in (process / "cmdline").read_bytes()
        except OSError:
            continue
        if is_actor and int(status.rsplit(")", 1)[1].split()[1]) == raylet:
            yield int(process.name)


def raylet_of(node):
    (process,) = node.all_processes["raylet"]
    return process.process.pid


def test_a_node_and_a_worker_are_lost_midway(tmp_path, alone, cluster, monkeypatch):
    from relax_spec import _ray

    node = cluster.add_node(num_cpus=2)
    out, report = tmp_path / "found", tmp_path / "report.jsonl"
    killed, asked, take = [], [], _ray.Merger.take

    def strike(merger, lines):
        take(merger, lines)
        asked.extend(lines)
        if not killed and len(asked) >= 0.2 * PROGRAMS:
            killed.append("node")
            cluster.remove_node(node, allow_graceful=False)
        elif killed == ["node"] and len(asked) >= 0.4 * PROGRAMS:
            killed.append("worker")
            os.kill(next(workers(raylet_of(cluster.head_node))), signal.SIGKILL)

    monkeypatch.setattr(_ray.Merger, "take", strike)
    status, told = on_ray(cluster, out, [*CRASHING, "--report", f"jsonl={report}"])
    assert status == 1 and killed == ["node", "worker"], (status, killed, told)
    assert any("is lost" in text for text in told), told
    # Nothing is lost, and nothing counts twice.
    assert len(asked) == PROGRAMS
    assert contents(out) == alone[0]
    assert summary(report) == alone[1]


def test_a_campaign_goes_on_where_it_stopped(tmp_path, alone, cluster):
    half = PROGRAMS // 2
    assert on_ray(cluster, tmp_path, CRASHING, programs=half)[0] in (0, 1)
    import ray

    ray.shutdown()
    assert on_ray(cluster, tmp_path, CRASHING)[0] == 1
    assert contents(tmp_path) == alone[0]


def test_many_implementations_wait_for_nothing(tmp_path, cluster):
    for _ in range(2):
        cluster.add_node(num_cpus=ACTORS // 2)
    report = tmp_path / "report.txt"
    # Nothing is found, as the questions that reduce it would wait, too, one after another.
    asked = [*fuzz("--sleep", "5"), "--paths", "well_formed", "--report", f"human={report}"]
    begun = time.monotonic()
    status, told = on_ray(cluster, tmp_path / "found", asked, programs=24 * ACTORS, actors=ACTORS)
    print(f"{time.monotonic() - begun:.0f} s", *told, *report.read_text().splitlines()[:2], sep="\n")
    share = float(told[-1].split("actors waited ")[1].split("%")[0])
    assert status == 0 and share < 5, told
