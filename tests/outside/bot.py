"""A bot written without the project's code: it reads PROTOCOL.md's questions and answers them.

The first argument says how: `first` takes the first action, `number` the one that the question's number picks, `words`
the same by its words, `last` the last action, `late` the first one after half a second, from then on the last; `pass`
passes. The other ways are faults: `crash`, `garbage`, `illegal`, `silent`, `flood`, `blurt` (speaks unasked). With a
second argument each question is added to that file.
"""

import json
import sys
import time

how = sys.argv[1] if len(sys.argv) > 1 else "number"
if how == "blurt":
    print("ready when you are", flush=True)
for line in sys.stdin:
    question = json.loads(line)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "a", encoding="utf-8") as file:
            file.write(line)
    actions = question["actions"]
    if how == "crash":
        print("out of luck", file=sys.stderr)
        sys.exit(3)
    if how == "garbage":
        print("well, let me think", flush=True)
        continue
    if how == "flood":
        print("[" * 3_000_000, flush=True)
        continue
    if how == "silent":
        time.sleep(60)
    if how == "late":
        time.sleep(0.5)
        how = "later"
        actions = actions[:1]
    answer: dict[str, object]
    if how == "illegal":
        answer = {"action": -7}
    elif how == "pass":
        answer = {"action": None}
    elif how == "first":
        answer = {"action": actions[0]["action"]}
    elif how in ("last", "later"):
        answer = {"action": actions[-1]["action"]}
    elif how == "words":
        answer = {"words": actions[question["number"] % len(actions)]["words"].upper()}
    else:
        answer = {"action": actions[question["number"] % len(actions)]["action"]}
    print(json.dumps(answer), flush=True)
