import {
  convert,
  copy,
  type FlowEvent,
  type FlowTarget,
  type RunReport,
  rechunk,
} from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { type GivenArray, given } from "../../support/given.ts";

export type Operation = "copy" | "direct" | "staged" | "convert";
export type Mode = "fresh" | "replace" | "skip" | "update" | "member" | "new member";

/** What one run does to a target. */
export interface Run {
  readonly operation: Operation;
  readonly mode: Mode;
  /** Of the target; the source of a conversion is of the other one. */
  readonly zarrFormat: "v2" | "v3";
}

const SHAPE = [4, 6];

/** A consolidated group with arrays of these names, all of whose values are above `start`. */
export function hierarchy(
  zarrFormat: "v2" | "v3",
  { names, start, chunks }: { names: readonly string[]; start: number; chunks: readonly number[] },
): Promise<MemoryStore> {
  const made = { dataType: "int16", shape: SHAPE, chunks, codec: "none", attributes: { start } };
  const arrays: Record<string, GivenArray> = {};
  for (const [n, name] of names.entries()) arrays[name] = { ...made, values: (i) => start + 100 * n + i };
  const at = new MemoryStore(`values from ${start}`);
  return given({ at, zarrFormat, attributes: { start }, arrays, consolidated: true });
}

/** What is at the target before; undefined where nothing is. */
export async function before({ mode, zarrFormat }: Run): Promise<MemoryStore | undefined> {
  if (mode === "fresh") return undefined;
  const names = mode === "skip" ? ["b"] : ["a", "b"];
  return hierarchy(zarrFormat, { names, start: 1001, chunks: [3, 3] });
}

export function source({ operation, zarrFormat }: Run): Promise<MemoryStore> {
  const other = zarrFormat === "v2" ? "v3" : "v2";
  const from = operation === "convert" ? other : zarrFormat;
  return hierarchy(from, { names: ["a", "b"], start: 2001, chunks: [2, 3] });
}

export interface RunOptions {
  readonly from: MemoryStore;
  /** The target at a path below its root. */
  readonly targetAt: (path: string) => FlowTarget;
  readonly signal?: AbortSignal;
  readonly scratch: string;
  /** Whether the target may be there from a run that was cut, whose lock counts for nothing. */
  readonly isAgain?: boolean;
  /** Keeps what is done when it fails, and goes on with what one that failed has kept. */
  readonly resume?: boolean;
  readonly onEvent?: (event: FlowEvent) => void;
}

/** Runs it; again, where it was cut. */
export async function runOnce(
  { operation, mode, zarrFormat }: Run,
  { from, targetAt, signal, scratch, isAgain = false, resume = false, onEvent = () => {} }: RunOptions,
): Promise<RunReport> {
  const isMember = mode === "member" || mode === "new member";
  const node = isMember ? { store: from, path: "a" } : from;
  const target = targetAt(mode === "member" ? "a" : mode === "new member" ? "c" : "");
  const isNew = mode === "fresh" || mode === "new member";
  const ifExists = mode === "skip" || mode === "update" ? mode : isNew && !isAgain ? "error" : "replace";
  const options = {
    ifExists,
    signal,
    threads: 1,
    concurrency: 1,
    scratch,
    onEvent,
    ...(isAgain && { breakLock: true }),
    ...(resume && { resume, stop: new AbortController().signal }),
  } as const;
  if (operation === "copy") return copy(node, target, options);
  if (operation === "convert") return convert(node, target, { ...options, to: zarrFormat });
  const chunks = isMember ? [4, 2] : ["a:4,2", "b:4,2"];
  return rechunk(node, target, { ...options, chunks, strategy: operation });
}
