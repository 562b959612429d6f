"""The virtual machine of relax-spec, which runs the executables that TVM has made."""

import json
import subprocess


class Reply(dict):
    """A reply as the machine gives it, which goes on as it is."""


class Machine:
    """`relax-spec vm answer`, started when it is first wanted and again after it has fallen."""

    def __init__(self, tool):
        self.tool = tool
        self.process = None

    def run(self, executable, entry, arguments, identity, edition):
        if self.process is None:
            command = [self.tool, "vm", "answer"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        question = {"executable": executable, "entry": entry, "args": arguments, "identity": identity}
        if edition:
            question["edition"] = edition
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process = None
            raise RuntimeError("the machine has fallen")
        return Reply(json.loads(line))
