import { spawn } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "rolldown";
import { command } from "../../built-package.ts";
import { exitOf } from "../../support/cli.ts";
import type { Run } from "./runs.ts";

/** How a process of the command is killed. */
export interface Kill {
  readonly signal: NodeJS.Signals;
  /** The mutating file call as which it begins. */
  readonly at: number;
}

/** How it ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  /** The mutating file calls that it made; undefined where it was gone before it could tell. */
  readonly calls: number | undefined;
}

/** Makes the script that kills a process from within, in a folder that exists. */
export async function buildKiller(folder: string): Promise<void> {
  await build({
    input: { killer: join(import.meta.dirname, "kill-process.ts") },
    platform: "node",
    external: [/^node:/],
    output: { dir: folder, format: "esm", entryFileNames: "[name].mjs" },
  });
}

/** Runs the command, whose killer lies in `folder`. */
export async function runAndKill(folder: string, args: readonly string[], kill?: Kill): Promise<Ended> {
  const callsFile = join(folder, "calls");
  await rm(callsFile, { force: true });
  await mkdir(folder, { recursive: true });
  const killer = pathToFileURL(join(folder, "killer.mjs")).href;
  const env = {
    ...process.env,
    CALLS_FILE: callsFile,
    ...(kill && { KILL_AT: `${kill.at}`, KILL_SIGNAL: kill.signal }),
  };
  const child = spawn(process.execPath, ["--import", killer, command, ...args], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (text) => (stderr += text));
  const code = await exitOf(child);
  const calls = await readFile(callsFile, "utf8").catch(() => undefined);
  return { code, signal: child.signalCode, stderr, calls: calls === undefined ? undefined : Number(calls) };
}

/** What the command is told, to do the same as a run of the library. */
export function argumentsOf(
  { operation, mode, zarrFormat }: Run,
  { source, target, scratch }: { source: string; target: (path: string) => string; scratch: string },
): string[] {
  const isMember = mode === "member" || mode === "new member";
  const places = [
    isMember ? join(source, "a") : source,
    target(mode === "member" ? "a" : mode === "new member" ? "c" : ""),
  ];
  const ifExists = {
    fresh: "error",
    "new member": "error",
    replace: "replace",
    member: "replace",
    skip: "skip",
  };
  const options = [
    ...(mode === "update" ? ["--update"] : ["--if-exists", ifExists[mode]]),
    ...["--threads", "1", "--io", "1", "--quiet"],
  ];
  if (operation === "copy") return ["copy", ...places, ...options];
  if (operation === "convert") return ["convert", ...places, ...options, "--to", zarrFormat];
  const chunks = isMember ? ["--chunks", "4,2"] : ["--chunks", "a:4,2", "--chunks", "b:4,2"];
  const place = operation === "staged" ? ["--scratch", scratch] : [];
  return ["rechunk", ...places, ...options, ...chunks, "--strategy", operation, ...place];
}
