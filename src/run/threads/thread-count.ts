import { registeredCodecs } from "../../codecs/registry.ts";
import { privateAccessOf } from "../../stores/remote/private-access.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { builtin, isNode } from "../../util/platform.node.ts";
import { registeredWorker } from "./registered-worker.ts";

/** Properties of a flow that decide if its tasks can run in other threads. */
export interface Reach {
  /** Spec of the source; undefined for an object of the program. */
  readonly source: StoreSpec | undefined;
  readonly target: StoreSpec;
  /** Place for scratch objects, if one was requested. */
  readonly scratch?: StoreSpec | undefined;
  /** True if requests or bytes per second are limited. */
  readonly isPaced: boolean;
  /** True if a function of this process computes values. */
  readonly hasFunction?: boolean;
}

/**
 * Returns the reason why all tasks of a flow run in the thread that started it; undefined if other threads can run
 * them.
 */
export function singleThreadReason({
  source,
  target,
  scratch,
  isPaced,
  hasFunction,
}: Reach): string | undefined {
  if (!isNode && registeredWorker() === undefined) return "no worker is registered (`registerWorker`)";
  const [ownCodec] = registeredCodecs();
  if (ownCodec !== undefined) return `the codec \`${ownCodec}\` belongs to the program`;
  if (hasFunction) return "`map` is a function of the program; only a module can run in several threads";
  if (isPaced) return "limits on requests or bytes per second need a single thread";
  const known = [source, target, scratch].map((spec) => spec && privateAccessOf(spec));
  if (known.some((access) => access?.beforeRequest))
    return "the program intercepts requests (`beforeRequest`)";
  if (known.some((access) => access?.fetch)) return "the program makes requests itself (`fetch`)";
  if (source && typeof privateAccessOf(source).headers === "function")
    return "the program computes request headers (`headers`)";
  if (source === undefined || isObject(source)) return "the source is an object of the program";
  if (source.kind === "memory") return "the source is in this thread's memory";
  if (target.kind === "memory") return "the target is in this thread's memory";
  if (scratch?.kind === "memory") return "the scratch objects are in this thread's memory";
  return undefined;
}

/** True for an object of the program, or a zip in one. */
function isObject(spec: StoreSpec): boolean {
  return spec.kind === "zip-value" ? isObject(spec.store) : spec.kind === "object";
}

/** Number of cores available to this process. */
export async function coresAvailable(): Promise<number> {
  return builtin("node:os")?.availableParallelism() ?? navigator.hardwareConcurrency ?? 1;
}
