import { registeredCodecs } from "../../codecs/registry.ts";
import { requestHookOf } from "../../stores/request-hook.ts";
import type { StoreSpec } from "../../stores/store.ts";
import type { Plan } from "../plan/plan.ts";

/** What a thread costs before it runs its first task, in milliseconds. */
const START_MS = 40;
/** Rough costs of a chunk, and of a decoded byte: whether a thread is worth its start is all that they tell. */
const CHUNK_MS = 0.03;
const BYTE_MS = 1.5e-6;

/** Threads that a run of the plan starts: fewer than planned where there is too little to do. */
export function threadsToStart({ budget, totals }: Plan): number {
  const chunks = totals.chunksRead + totals.chunksWritten;
  const work = chunks * CHUNK_MS + totals.decodedBytes * BYTE_MS;
  const worthwhile = Math.floor(work / (2 * START_MS)) + 1;
  return Math.max(1, Math.min(budget.threads, totals.tasks, worthwhile));
}

/** What of a flow says whether its tasks can run in other threads. */
export interface Reach {
  /** The spec by which the source was opened; undefined for an object of the program's. */
  readonly source: StoreSpec | undefined;
  readonly target: StoreSpec;
  /** Where scratch objects go, if that is asked for. */
  readonly scratch?: StoreSpec | undefined;
  /** Whether requests, or bytes, of a second are limited. */
  readonly isPaced: boolean;
}

/** Why all tasks of a flow run in the thread that began it; undefined where others can run them too. */
export function whyInline({ source, target, scratch, isPaced }: Reach): string | undefined {
  if (globalThis.process?.versions?.node === undefined) return "there are no worker threads here";
  const [ownCodec] = registeredCodecs();
  if (ownCodec !== undefined) return `the codec \`${ownCodec}\` is the program's own`;
  if (isPaced) return "one thread keeps the limits of requests and bytes a second";
  if ([source, target].some((spec) => spec && requestHookOf(spec)))
    return "each request waits for the program";
  if (source === undefined || source.kind === "object") return "the source is an object of the program's";
  if (source.kind === "memory") return "the source is in this thread's memory";
  if (target.kind === "memory") return "the target is in this thread's memory";
  if (scratch?.kind === "memory") return "the scratch objects are in this thread's memory";
  return undefined;
}

/** Cores that this process may use. */
export async function coresAvailable(): Promise<number> {
  const os = globalThis.process?.getBuiltinModule?.("node:os") ?? (await import("node:os"));
  return os.availableParallelism();
}
