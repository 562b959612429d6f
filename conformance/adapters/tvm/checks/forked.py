"""Recorders of passes for `relax-spec blame` that import TVM once, for checks that run the command often.

`with adapter(PYTHON) as command` gives the command for `--adapter`. A process imports TVM and waits; for each run of
`blame` it makes a copy of itself, which takes the place of `stages.py`, and which TVM may bring down.
"""

import contextlib
import os
import pathlib
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

#: What `blame` starts: it hands its streams on, and waits.
START = """
import os, socket
connection = socket.socket(socket.AF_UNIX)
connection.connect(os.path.join(os.path.dirname(os.path.abspath(__file__)), "socket"))
socket.send_fds(connection, [b"x"], [0, 1, 2])
connection.recv(1)
"""


@contextlib.contextmanager
def adapter(python):
    """The command for `--adapter`, as long as the process lives."""
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        (place / "stages.py").write_text(START)
        server = subprocess.Popen([python, os.path.abspath(__file__), str(place / "socket")])
        try:
            while not (place / "socket").exists():
                if server.poll() is not None:
                    raise RuntimeError(f"{python} does not import TVM")
                time.sleep(0.1)
            yield f"{shlex.quote(sys.executable)} {shlex.quote(str(place / 'adapter.py'))}"
        finally:
            server.terminate()
            server.wait()


def serve(path):
    """A copy of this process for each connection."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import stages
    import trial  # noqa: F401 imports TVM, and what stages need

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            _, streams, _, _ = socket.recv_fds(connection, 1, 3)
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            stages.in_large_stack(stages.main)
            os._exit(0)
        connection.close()


if __name__ == "__main__":
    serve(sys.argv[1])
