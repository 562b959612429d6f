"""An adapter that breaks the protocol in one respect: `adapter.py FAULT DIR`.

It leaves every question to others (`unsupported`), except that it does FAULT when it is greeted, asked `glb`, or told to
end. Into DIR/pids it writes the number of every process that is to be gone afterwards, with `start` before its own.
"""

import json
import os
import signal
import subprocess
import sys
import time

FAULT, DIR = sys.argv[1], sys.argv[2]
OPS = ["erase", "glb", "lub", "subtype"]
GREETING = {
    "id": 0,
    "protocol": 1,
    "implementation": {"name": "faulty", "version": "1"},
    "capabilities": OPS,
}


def note(what):
    with open(os.path.join(DIR, "pids"), "a") as pids:
        pids.write(f"{what}\n")


def write(*parts):
    """In one go, so that what is written together comes together."""
    data = b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)
    while data:
        data = data[os.write(1, data):]


def line(value, **more):
    return json.dumps({**value, **more}) + "\n"


def declined(number):
    return {"id": number, "outcome": "unsupported", "what": "not here"}


def die(number):
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    time.sleep(60)


def leave(code):
    os._exit(code)


def hang():
    while True:
        time.sleep(60)


def flood(text):
    while True:
        write(text * 1000)


def grandchild():
    """A process that holds our output and outlives us, unless somebody ends it."""
    child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
    note(child.pid)


def second_time(name):
    path = os.path.join(DIR, name)
    known = os.path.exists(path)
    open(path, "w").close()
    return known


GREETINGS = {
    "greet-silence": hang,
    "greet-exit": lambda: leave(0),
    "greet-exit-7": lambda: leave(7),
    "greet-segv": lambda: die(signal.SIGSEGV),
    "greet-garbage": lambda: write("Traceback of something\n"),
    "greet-empty-line": lambda: write("\n"),
    "greet-not-utf8": lambda: write(b"\xff\xfe\n"),
    "greet-long-line": lambda: write("x" * 5000, "\n"),
    "greet-endless-line": lambda: flood("x"),
    "greet-version": lambda: write(line(GREETING, protocol=9)),
    "greet-nobody": lambda: write('{"id":0,"protocol":1,"capabilities":[]}\n'),
    "greet-array": lambda: write("[]\n"),
    "greet-null": lambda: write("null\n"),
    "greet-text-protocol": lambda: write(line(GREETING, protocol="1")),
    "greet-part": lambda: (write('{"id":0,"proto'), leave(0)),
    "greet-deep": lambda: write("[" * 100_000, "\n"),
    "greet-mark": lambda: write("\ufeff", line(GREETING)),
    "greet-flood": lambda: flood("noise\n"),
    "greet-closed": lambda: (os.close(1), hang()),
    "greet-escape": lambda: write("\x1b]0;title\x07\u202e\n"),
}


def crash_once(number):
    if not second_time("crashed"):
        die(signal.SIGSEGV)
    write(line(declined(number)))


def ignore_terminations(_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hang()


def heartbeats(number, pause):
    while True:
        write(line({"id": number, "stage": "compile"}))
        time.sleep(pause)


def staged(number, then):
    write(line({"id": number, "stage": "compile"}))
    then()


def dying_words():
    os.write(2, b"last words\n")
    leave(1)


def answer(number, **fields):
    write(line({"id": number, "outcome": "answer", **fields}))


QUESTIONS = {
    "crash-exit-0": lambda n: leave(0),
    "crash-exit-7": lambda n: leave(7),
    "crash-segv": lambda n: die(signal.SIGSEGV),
    "crash-abort": lambda n: die(signal.SIGABRT),
    "crash-kill": lambda n: die(signal.SIGKILL),
    "crash-term": lambda n: die(signal.SIGTERM),
    "crash-in-stage": lambda n: staged(n, lambda: die(signal.SIGSEGV)),
    "crash-with-words": lambda n: dying_words(),
    "crash-in-line": lambda n: (write('{"id":'), leave(0)),
    "crash-output-held": lambda n: (grandchild(), leave(3)),
    "crash-once": crash_once,
    "crash-for-good": lambda n: (second_time("crashed"), leave(1)),
    "crash-after-stray": lambda n: (write("Segmentation fault\n"), die(signal.SIGSEGV)),
    "closed-output": lambda n: (os.close(1), hang()),
    "hang": lambda n: hang(),
    "hang-in-stage": lambda n: staged(n, hang),
    "hang-heartbeats": lambda n: heartbeats(n, 0.1),
    "hang-heartbeat-flood": lambda n: flood(line({"id": n, "stage": "compile"})),
    "hang-grandchild": lambda n: (grandchild(), hang()),
    "hang-until-told": lambda n: (grandchild(), hang()),
    "hang-unstoppable": ignore_terminations,
    "hang-stopped": lambda n: os.kill(os.getpid(), signal.SIGSTOP),
    "hang-after-stray": lambda n: (write("noise\n"), hang()),
    "stray-before": lambda n: write("warning: slow\n", line(declined(n))),
    "stray-long-before": lambda n: (write("warning: slow\n"), time.sleep(0.5), write(line(declined(n)))),
    "stray-after": lambda n: write(line(declined(n)), "bye for now\n"),
    "stray-empty": lambda n: write("\n", line(declined(n))),
    "stray-not-utf8": lambda n: write(b"\xff\n", line(declined(n))),
    "stray-long-line": lambda n: write("x" * 10_000, "\n", line(declined(n))),
    "stray-flood": lambda n: flood("noise\n"),
    "hang-in-line": lambda n: flood("x"),
    "stray-escape": lambda n: write("\x1b[2J\u202e\n", line(declined(n))),
    "garbage": lambda n: write("garbage\n"),
    "truncated": lambda n: write(f'{{"id":{n},"outcome":\n'),
    "two-in-a-line": lambda n: write(line(declined(n)).strip(), line(declined(n))),
    "twice-a-key": lambda n: write(f'{{"id":{n},"id":{n},"outcome":"unsupported"}}\n'),
    "nan": lambda n: write(f'{{"id":{n},"outcome":"answer","answer":NaN}}\n'),
    "half-a-character": lambda n: write(f'{{"id":{n},"outcome":"internal_error","message":"\\ud800"}}\n'),
    "deep": lambda n: write(f'{{"id":{n},"outcome":"answer","answer":', "[" * 100_000, "]" * 100_000, "}\n"),
    "wide": lambda n: write(f'{{"id":{n},"outcome":"answer","answer":[', "0," * 300_000, "0]}\n"),
    "id-other": lambda n: write(line(declined(999_999))),
    "id-negative": lambda n: write(line(declined(-n))),
    "id-text": lambda n: write(line(declined("x"))),
    "id-none": lambda n: write('{"outcome":"unsupported"}\n'),
    "id-huge": lambda n: write(line(declined(10**30))),
    "id-fraction": lambda n: write(line(declined(n + 0.5))),
    "id-of-greeting": lambda n: write(line(GREETING)),
    "id-next": lambda n: write(line(declined(n + 1)), line(declined(n))),
    "stage-other": lambda n: write(line({"id": 999, "stage": "run"}), line(declined(n))),
    "stage-number": lambda n: write(line({"id": n, "stage": 5})),
    "stage-after": lambda n: write(line(declined(n)), line({"id": n, "stage": "run"})),
    "early": lambda n: write(line(declined(n)), line(declined(n + 1))),
    "twice": lambda n: write(line(declined(n)) * 2),
    "thrice": lambda n: write(line(declined(n)) * 3),
    "twice-another": lambda n: (answer(n, answer="Object"), write(line(declined(n)))),
    "answer-of-another-kind": lambda n: answer(n, answer=5),
    "answer-missing": lambda n: answer(n),
    "answer-warnings": lambda n: answer(n, answer="Object", warnings=["NO.SUCH.RULE"]),
    "outcome-unknown": lambda n: write(line({"id": n, "outcome": "frobnicated"})),
    "outcome-missing": lambda n: write(line({"id": n})),
    "outcome-number": lambda n: write(line({"id": n, "outcome": 5})),
    "effects-wrong": lambda n: write(line({"id": n, "outcome": "trapped", "effects": 5})),
    "internal-error": lambda n: write(line({"id": n, "outcome": "internal_error", "message": "\x1b[31mred\u202e"})),
    "carriage-return": lambda n: write(line(declined(n)).strip(), "\r\n"),
    "spaces": lambda n: write("  ", line(declined(n)).strip(), "\t \n"),
    "more-fields": lambda n: write(line(declined(n), new={"a": [1]})),
    "words-flood": lambda n: (os.write(2, b"words\n" * 200_000), write(line(declined(n)))),
    "words-endless": lambda n: (os.write(2, b"x" * 2_000_000), write(line(declined(n)))),
    "pieces": lambda n: [(write(c), time.sleep(0.001)) for c in line(declined(n))],
}


def at_the_end(number):
    match FAULT:
        case "end-twice":
            write(line(declined(number)))
        case "end-hang":
            hang()
        case "end-grandchild":
            grandchild()
        case "end-exit-9":
            leave(9)
        case "end-flood":
            flood("noise\n")


def main():
    note(f"start {os.getpid()}")
    asked, late = None, None
    for text in sys.stdin:
        request = json.loads(text)
        number = request.get("id")
        if request["op"] == "bye":
            return at_the_end(asked)
        if request["op"] == "hello":
            if FAULT == "crash-for-good" and os.path.exists(os.path.join(DIR, "crashed")):
                leave(1)
            if FAULT == "no-capabilities":
                write(line(GREETING, capabilities=[]))
            elif FAULT == "greet-stray":
                write(line(GREETING), "hello there\n")
            elif FAULT == "greet-twice":
                write(line(GREETING) * 2)
            elif FAULT in GREETINGS:
                GREETINGS[FAULT]()
            else:
                write(line(GREETING))
        elif request["op"] != "glb":
            write(late or "", line(declined(number)))
            late = None
        else:
            asked = number
            if FAULT == "twice-late":
                late = line(declined(number))
                write(late)
            elif FAULT in QUESTIONS:
                QUESTIONS[FAULT](number)
            else:
                write(line(declined(number)))
    at_the_end(asked)


main()
