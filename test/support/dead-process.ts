import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { processTag, thisProcess } from "../../src/stores/files/process-record.node.ts";

/** A process that is over, as it would be in a lock, and in names of files. */
export async function deadProcess() {
  const child = spawn("sleep", ["60"]);
  await once(child, "spawn");
  const { pid = 0 } = child;
  const started = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[21] ?? "";
  child.kill("SIGKILL");
  await once(child, "exit");
  const [, , machine] = processTag().split("x");
  return { record: { ...thisProcess(), pid, started }, tag: `${pid}x${started}x${machine}x` };
}
