"""The pytest plugin: `--relax-oracle` puts every `PassContext` of a test under `relax_spec.tvm.PassOracle`.

`--relax-oracle=record` only reports. `@pytest.mark.relax_oracle(runs=20, skip=["MyPass"])` changes settings for a test,
and `@pytest.mark.no_relax_oracle` switches it off. Options: `--relax-oracle-out`, `--relax-oracle-share`.
"""

import pytest

_KEY = "relax_oracle"


def pytest_addoption(parser):
    group = parser.getgroup("relax-spec", "the oracle of Relax passes")
    group.addoption(
        "--relax-oracle",
        nargs="?",
        const="raise",
        choices=["raise", "record"],
        help="judge every pass that a test runs, and fail the test (or, with `record`, only report)",
    )
    group.addoption("--relax-oracle-out", default="relax-oracle", metavar="DIR", help="where reproducers go")
    group.addoption(
        "--relax-oracle-share",
        type=float,
        default=None,
        metavar="X",
        help="the time of the oracle as a part of that of the tests [default: 0.5]",
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "relax_oracle(**settings): settings of the oracle of passes for a test")
    config.addinivalue_line("markers", "no_relax_oracle: no oracle of passes for a test")
    if config.getoption("--relax-oracle"):
        config.pluginmanager.register(Oracle(config), "relax-oracle")


class Oracle:
    """The plugin where it is switched on."""

    def __init__(self, config):
        self.config = config
        self.reports = []
        self.judge = None
        #: The time that all judges have taken and had, so that the budget is one of the whole run.
        self.spent = self.had = 0.0

    def settings(self, item):
        marks = [mark.kwargs for mark in reversed(list(item.iter_markers("relax_oracle")))]
        given = {"action": self.config.getoption("--relax-oracle"), "out": self.config.getoption("--relax-oracle-out")}
        share = self.config.getoption("--relax-oracle-share")
        given |= {} if share is None else {"share": share}
        for mark in marks:
            given |= mark
        given["skip"] = frozenset(given.get("skip", ()))
        return given

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        if item.get_closest_marker("no_relax_oracle"):
            return (yield)
        from relax_spec.tvm import _contexts, oracle

        judge = oracle.Judge(oracle.Settings(**self.settings(item)))
        judge.carry(self.spent, self.had)
        self.judge = judge
        try:
            with _contexts.under(oracle.PassOracle(judge)):
                return (yield)
        finally:
            self.spent, self.had = judge.carried()
            self.judge = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        judge = self.judge
        if judge is not None and call.when == "call":
            self.describe(item, judge)
            # Somebody may have caught what the oracle raised.
            if judge.findings and judge.settings.action == "raise" and call.excinfo is None:
                from relax_spec.tvm.oracle import PassVerdictError

                call.excinfo = pytest.ExceptionInfo.from_exc_info(_raised(PassVerdictError(str(judge.findings[0]))))
        return (yield)

    def describe(self, item, judge):
        """What JUnit and the other processes of xdist learn."""
        properties = [(f"{_KEY}.{name}", count) for name, count in judge.counts.items()]
        properties += [(f"{_KEY}.open", f"{number} {reason}") for reason, number in judge.open.items()]
        properties += [(f"{_KEY}.finding", f"{found.name} [{found.clause}]") for found in judge.findings]
        properties += [(f"{_KEY}.reproducer", found.reproducer) for found in judge.findings if found.reproducer]
        item.user_properties += properties

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.reports.append((report.nodeid, list(report.user_properties)))

    def pytest_terminal_summary(self, terminalreporter):
        counts, left, found = {}, {}, {}
        for node, properties in self.reports:
            for name, value in properties:
                kind = name.removeprefix(f"{_KEY}.")
                if kind == name:
                    continue
                if kind == "open":
                    number, _, reason = value.partition(" ")
                    left[reason] = left.get(reason, 0) + int(number)
                elif kind == "finding":
                    found.setdefault(value, []).append(node)
                elif kind != "reproducer":
                    counts[kind] = counts.get(kind, 0) + int(value)
        say = terminalreporter
        say.section("relax oracle")
        say.write_line(
            f"passes run {counts.get('run', 0)}, seen {counts.get('seen', 0)}, changing a module {counts.get('changed', 0)}; "
            f"judged: contracts {counts.get('contracts', 0)}, meaning of functions {counts.get('meaning', 0)}"
        )
        for reason, number in sorted(left.items(), key=lambda item: -item[1])[:10]:
            say.write_line(f"  not judged {number}: {reason}")
        for what, nodes in sorted(found.items()):
            say.write_line(f"  {what}: {len(nodes)} tests, the first {nodes[0]}")


def _raised(error):
    try:
        raise error
    except type(error):
        import sys

        return sys.exc_info()
