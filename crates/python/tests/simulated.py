"""A simulated implementation: what it answers follows from the question alone, so that it finds the same in any process.

    simulated.py [--crash ONE_IN] [--sleep SECONDS]

It accepts every program, and so those that break a rule, and is lost at one of so many programs. That programs which were
drawn are well-formed is right.
"""

import json
import os
import sys
import time
import zlib

GIVEN = dict(zip(sys.argv[1::2], sys.argv[2::2]))
ANSWERED = ["check", "well_formed"]
CRASH, SLEEP = int(GIVEN.get("--crash", 0)), float(GIVEN.get("--sleep", os.environ.get("SIMULATED_SLEEP", 0)))


def main():
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"id": request.get("id")}
        if request["op"] == "bye":
            return
        if request["op"] == "hello":
            reply |= {"protocol": 1, "implementation": {"name": "simulated", "version": "1"}, "capabilities": ANSWERED}
        elif request["op"] in ANSWERED:
            time.sleep(SLEEP)
            if CRASH and zlib.crc32(json.dumps(request["args"]).encode()) % CRASH == 0:
                os.abort()
            reply |= {"outcome": "answer", "answer": "Accepted"}
        else:
            reply |= {"outcome": "unsupported", "what": request["op"]}
        print(json.dumps(reply), flush=True)


main()
