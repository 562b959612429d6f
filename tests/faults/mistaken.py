"""An adapter that asks another one and says one thing for another: what stands for FROM in its answers is TO.

usage: mistaken.py FROM TO MARK COMMAND ..

MARK is a file that is written as soon as fifty answers were changed.
"""

import json
import subprocess
import sys

FROM, TO, MARK, *COMMAND = sys.argv[1:]


def main():
    other = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    changed = 0
    for request in sys.stdin:
        other.stdin.write(request)
        other.stdin.flush()
        op = json.loads(request)["op"]
        while op != "bye":
            reply = json.loads(other.stdout.readline())
            if op == "hello":
                reply["implementation"]["name"] = "mistaken"
            elif "answer" in reply:
                answer = json.dumps(reply["answer"])
                reply["answer"] = json.loads(answer.replace(FROM, TO))
                changed += FROM in answer
                if changed == 50:
                    with open(MARK, "w", encoding="utf-8") as mark:
                        mark.write("changed")
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()
            if "stage" not in reply:
                break
    other.stdin.close()
    other.wait()


main()
