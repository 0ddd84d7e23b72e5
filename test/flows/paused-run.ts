import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { dist } from "../built-package.ts";
import { exitOf } from "../support/cli.ts";

/** What a process of its own copies. */
export interface PausedCopy {
  /** A hierarchy in a folder, and the path of a node in it. */
  readonly source: string;
  readonly path: string;
  readonly target: string;
  readonly ifExists: "error" | "replace" | "skip" | "update";
}

/**
 * Copies from a store that waits for a line of input when the target is taken and a chunk is asked for; an update has
 * compared it before.
 */
const PROGRAM = `
const { copy } = await import(process.argv[2]);
const { DirectoryStore } = await import(process.argv[3]);
const { source, path, target, ifExists } = JSON.parse(process.argv[4]);
const folder = new DirectoryStore(source);
let pause;
let isRunning = false;
const seen = new Map();
const wait = () => pause ??= new Promise((go) => { process.stdin.once("data", go); console.log("paused"); });
const isChunk = (key) => !/(?:^|\\/)(?:\\.z\\w+|zarr\\.json)$/.test(key);
const store = {
  description: folder.description,
  async get(key, options) {
    if (isRunning && isChunk(key)) {
      seen.set(key, (seen.get(key) ?? 0) + 1);
      if (seen.get(key) === (ifExists === "update" ? 2 : 1)) await wait();
    }
    return folder.get(key, options);
  },
  size: (key, options) => folder.size(key, options),
  list: (prefix, options) => folder.list(prefix, options),
  listDirectory: (prefix, options) => folder.listDirectory(prefix, options),
};
await copy({ store, path }, target, {
  ifExists,
  threads: 1,
  onEvent: ({ type }) => { isRunning ||= type === "plan"; },
});
process.exit(0);
`;

/** A process that has begun to copy, and waits. */
export interface PausedRun {
  /** Lets it go on; its exit code. */
  end(): Promise<number | null>;
  kill(): Promise<void>;
}

/** Starts a process that copies, and is in the midst of it when this resolves. */
export async function pausedCopy(folder: string, what: PausedCopy): Promise<PausedRun> {
  const program = join(folder, "paused-copy.mjs");
  writeFileSync(program, PROGRAM);
  const modules = ["index.js", "stores/directory.js"].map((name) => pathToFileURL(join(dist, name)).href);
  const child: ChildProcess = spawn(process.execPath, [program, ...modules, JSON.stringify(what)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exit = exitOf(child);
  if (child.stdout) await Promise.race([once(child.stdout, "data"), exit]);
  if (child.exitCode !== null) throw new Error(`the copy ended with ${child.exitCode} before it paused`);
  return {
    async end() {
      child.stdin?.end("go\n");
      return exit;
    },
    async kill() {
      child.kill("SIGKILL");
      await exit;
    },
  };
}
