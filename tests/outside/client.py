"""A client of the engine written without the project's code: plays a game by its words and prints what it learned.

client.py COMMAND…     starts the engine with this command
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

process = subprocess.Popen(
    sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
)
assert process.stdin is not None and process.stdout is not None
sent = 0


def read() -> dict[str, Any]:
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


def ask(do: str, **fields: object) -> dict[str, Any]:
    global sent
    assert process.stdin is not None
    sent += 1
    process.stdin.write(json.dumps({"do": do, "id": sent, **fields}) + "\n")
    process.stdin.flush()
    answer = read()
    if answer["id"] != sent or "result" not in answer:
        raise SystemExit(f"{do} {fields}: {answer}")
    result: dict[str, Any] = answer["result"]
    return result


hello = read()["result"]
if hello["protocol"] != 1:
    raise SystemExit("another protocol")
game = ask("new", seed=11)
number = game["state"]
made: list[str] = []
where = game
while not where["over"]:
    actions = ask("legal", state=number)["actions"]
    chosen = actions[len(made) * 7 % len(actions)]
    fields = {} if chosen["player"] is None else {"player": chosen["player"]}
    made.append(chosen["words"])
    where = ask("apply", state=number, words=chosen["words"], **fields)
returns = ask("returns", state=number)
record = ask("save", state=number)["record"]
again = ask("load", record=record)
back = ask("undo", state=again["state"], count=len(made))
for words in made[:3]:
    actions = ask("legal", state=back["state"])["actions"]
    who = next(a["player"] for a in actions if a["words"] == words)
    ask("apply", state=back["state"], words=words, **({} if who is None else {"player": who}))
print(
    json.dumps(
        {
            "hello": hello,
            "made": made,
            "returns": returns,
            "record": record,
            "same": ask("returns", state=again["state"])["over"] is False,
            "seen": ask("view", state=number, player=0)["information_state"],
        }
    )
)
ask("quit")
raise SystemExit(process.wait())
