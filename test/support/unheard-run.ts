import { readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Milliseconds since the epoch at which a run was heard of for the last time. */
const OLD = Date.now() - 60 * 60_000;

/** Makes a control folder one of a run on another machine that was not heard of for an hour. */
export async function makeUnheard(controlFolder = ""): Promise<void> {
  const path = join(controlFolder, "owner.json");
  const { format, run, begun } = JSON.parse(await readFile(path, "utf8"));
  await writeFile(path, JSON.stringify({ format, run, begun, host: "elsewhere", pid: 1 }));
  await utimes(path, OLD / 1000, OLD / 1000);
}
