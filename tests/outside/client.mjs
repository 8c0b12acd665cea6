// A client of the engine for node: plays a game by the numbers of actions and prints the returns.
//     node client.mjs COMMAND…
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [program, ...rest] = process.argv.slice(2);
const engine = spawn(program, rest, { stdio: ["pipe", "pipe", "inherit"] });
const lines = createInterface({ input: engine.stdout })[Symbol.asyncIterator]();
const read = async () => JSON.parse((await lines.next()).value);
const ask = async (request) => {
  engine.stdin.write(JSON.stringify(request) + "\n");
  return (await read()).result;
};

await read();
let where = await ask({ do: "new", seed: 11 });
const state = where.state;
for (let made = 0; !where.over; made++) {
  const { actions } = await ask({ do: "legal", state });
  const { action, player } = actions[(made * 7) % actions.length];
  where = await ask({ do: "apply", state, action, ...(where.simultaneous ? { player } : {}) });
}
console.log(JSON.stringify(await ask({ do: "returns", state })));
engine.stdin.end();
