import type { EventEmitter } from "node:events";
import { runCommand } from "../../src/cli/dispatch.ts";
import type { Run } from "./cli.ts";

type Write = typeof process.stdout.write;

/**
 * Runs the command in this process, from its sources: what starts no process costs a tenth. Only for files that are
 * tagged `process`, since it changes the working folder, and for one command at a time.
 */
export async function runHere(cwd: string, ...args: readonly string[]): Promise<Run> {
  const { stdout, stderr, env } = process;
  const before = {
    ...{ cwd: process.cwd(), exitCode: process.exitCode, color: env.NO_COLOR },
    ...{ out: stdout.write, err: stderr.write },
  };
  const forget = [stdout, stderr, process].map(forgetLater);
  const [out, err]: Buffer[][] = [[], []];
  Object.assign(stdout, { write: collectIn(out ?? []) });
  Object.assign(stderr, { write: collectIn(err ?? []) });
  process.chdir(cwd);
  env.NO_COLOR = "1";
  process.exitCode = undefined;
  try {
    await runCommand(args);
    const bytes = Buffer.concat(out ?? []);
    const code = Number(process.exitCode ?? 0);
    return { code, bytes, stdout: bytes.toString(), stderr: Buffer.concat(err ?? []).toString() };
  } finally {
    Object.assign(stdout, { write: before.out });
    Object.assign(stderr, { write: before.err });
    process.chdir(before.cwd);
    process.exitCode = before.exitCode;
    if (before.color === undefined) delete env.NO_COLOR;
    else env.NO_COLOR = before.color;
    for (const takeAway of forget) takeAway();
  }
}

/** Takes away what listens to `emitter` later than now. */
function forgetLater(emitter: EventEmitter): () => void {
  const before = EVENTS.map((event) => emitter.listeners(event));
  return () => {
    EVENTS.forEach((event, i) => {
      for (const listener of emitter.listeners(event)) {
        if (!before[i]?.includes(listener)) emitter.off(event, listener as () => void);
      }
    });
  };
}

/** What the command listens to until its process ends. */
const EVENTS = ["SIGINT", "SIGTERM", "SIGHUP", "uncaughtException", "error"] as const;

/** In the place of a stream's own, of which there is one for the whole process. */
function collectIn(pieces: Buffer[]): Write {
  return ((data: string | Uint8Array, ...rest: unknown[]) => {
    pieces.push(Buffer.from(data as Uint8Array));
    const done = rest.find((one) => typeof one === "function") as (() => void) | undefined;
    if (done) queueMicrotask(done);
    return true;
  }) as Write;
}
