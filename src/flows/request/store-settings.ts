import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import {
  type ConcurrencyOption,
  type Context,
  type PaceOptions,
  paceFor,
  type SourceOptions,
} from "../../hierarchy/read-options.ts";
import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { expectedItemSize } from "../../meta/data-type.ts";
import type { Execution, SIDES } from "../../plan/plan.ts";
import type { StoreAccess } from "../../stores/access.ts";
import { FIRST_ALLOWED, MAX_ALLOWED } from "../../stores/remote/concurrency-control.ts";
import { privateAccessOf, type RequestHook } from "../../stores/remote/private-access.ts";
import { limitRequests } from "../../stores/remote/server-counters.ts";
import type { Store, StoreSpec } from "../../stores/store.ts";
import { storeTraits } from "../../stores/store-traits.ts";
import { specOf } from "../../stores/url.ts";
import { requestTurns, withPaces, withRateLimit } from "../../stores/with/rate-limit.ts";
import { product } from "../../util/shape.ts";
import { parseBytes } from "../../util/units.ts";

const NEAR = 16;
/** Divisor of the memory budget: more requests than at the start may only use this part of it. */
const BUDGET_PART = 16;

/**
 * Returns the requests in flight per store of a flow. The default for a server is the initial limit of the
 * adaptive mode.
 */
export function usualConcurrency(
  concurrency: ConcurrencyOption | undefined,
  ...stores: readonly StoreSpec[]
): number {
  if (concurrency !== undefined && concurrency !== "auto") return concurrency;
  return anyRemote(stores) ? FIRST_ALLOWED : NEAR;
}

/** The inputs that bound the requests in flight. */
export interface ConcurrencyRequest {
  readonly concurrency: ConcurrencyOption | undefined;
  readonly stores: readonly StoreSpec[];
  readonly maxMemory: number;
  /** Size of the largest chunk; undefined if unknown. */
  readonly chunkBytes: number | undefined;
}

/** Computes the requests in flight of a flow. If they adapt during the run, `concurrency` is their maximum. */
export function concurrencyOf({
  concurrency,
  stores,
  maxMemory,
  chunkBytes,
}: ConcurrencyRequest): Pick<Execution, "concurrency" | "isAdaptive"> {
  const usual = usualConcurrency(concurrency, ...stores);
  const isStated = concurrency !== undefined && concurrency !== "auto";
  if (isStated || !anyRemote(stores)) return { concurrency: usual };
  const fitting = chunkBytes === undefined ? 0 : maxMemory / BUDGET_PART / Math.max(1, chunkBytes);
  return { concurrency: Math.floor(Math.min(MAX_ALLOWED, Math.max(usual, fitting))), isAdaptive: true };
}

/** Decoded bytes of the largest chunk or shard; undefined without arrays. */
export function largestChunk(nodes: readonly Pick<ZarrNode, "metadata">[]): number | undefined {
  const sizes = nodes.flatMap(({ metadata }) => (metadata.kind === "array" ? chunkBytes(metadata) : []));
  return sizes.length === 0 ? undefined : Math.max(...sizes);
}

function chunkBytes({ chunkGrid, dataType }: ArrayMetadata): number {
  return product(chunkGrid.chunkShape) * expectedItemSize(dataType);
}

/** Limits requests to servers to a stated number. Returns a function that ends the limit. */
export function limitConcurrency({
  concurrency,
  context,
}: Pick<SourceOptions, "concurrency" | "context">): () => void {
  return concurrency === undefined || concurrency === "auto"
    ? () => {}
    : limitRequests({ most: concurrency, isFixed: true, owner: context });
}

/** As `limitConcurrency`, for an adaptive number of requests, up to the planned maximum. */
export function limitAdaptive({
  concurrency,
  isAdaptive,
}: Pick<Execution, "concurrency" | "isAdaptive">): () => void {
  return isAdaptive ? limitRequests({ most: concurrency, isFixed: false }) : () => {};
}

/** Opens a source or store under a limit of requests. Closing it, or failing to open it, ends the limit. */
export async function openWithin<T extends { readonly close: () => Promise<void> }>(
  endLimit: () => void,
  open: () => Promise<T>,
): Promise<T> {
  try {
    const opened = await open();
    return { ...opened, close: () => opened.close().finally(endLimit) };
  } catch (error) {
    endLimit();
    throw error;
  }
}

/** Calls `concurrencyOf` for reads of one array. */
export function sliceConcurrency(
  { spec, metadata }: ZarrArray,
  concurrency: ConcurrencyOption | undefined,
  maxMemory: number,
): ReturnType<typeof concurrencyOf> {
  return concurrencyOf({ concurrency, stores: [spec], maxMemory, chunkBytes: chunkBytes(metadata) });
}

/** True if any of the stores is on a server. */
function anyRemote(stores: readonly StoreSpec[]): boolean {
  return stores.some((store) => storeTraits(store).isRemote);
}

/** Options of requests to a server. */
type RequestAccess = Pick<StoreAccess, "beforeRequest" | "fetch" | "retry">;

/** Rates, and the context that shares them. */
type Rates = PaceOptions & { readonly context?: Context | undefined };

/** Adds the rate limit of the options to each request to a server. A request first waits for `beforeRequest`. */
export function pacedAccess({
  requestsPerSecond,
  context,
  beforeRequest,
  fetch,
  retry,
}: Rates & RequestAccess): RequestAccess {
  if (requestsPerSecond === undefined) return { beforeRequest, fetch, retry };
  const turn = context ? sharedTurns(context) : requestTurns(requestsPerSecond);
  return {
    fetch,
    retry,
    beforeRequest: async (signal, origin) => {
      await beforeRequest?.(signal, origin);
      await turn(signal, origin);
    },
  };
}

function sharedTurns(context: Context): RequestHook {
  return async (signal, origin) => paceFor(context, "requestsPerSecond", origin)?.turn(1, signal);
}

/**
 * Limits the rates of a store as the options state. Requests are not limited again if `pacedAccess` already limits
 * those of the spec.
 */
export function withPace<S extends Store>(
  store: S,
  { requestsPerSecond, bytesPerSecond, context }: Rates,
  spec: StoreSpec | undefined,
) {
  const calls = spec !== undefined && privateAccessOf(spec).beforeRequest ? undefined : requestsPerSecond;
  if (calls === undefined && bytesPerSecond === undefined) return store;
  if (context) {
    const known = spec ?? specOf(store);
    const place = known === undefined ? store.description : placeOf(known);
    return withPaces(store, {
      requests: calls === undefined ? undefined : paceFor(context, "requestsPerSecond", place),
      bytes: bytesPerSecond === undefined ? undefined : paceFor(context, "bytesPerSecond", place),
    });
  }
  return withRateLimit(store, {
    requestsPerSecond: calls,
    bytesPerSecond: bytesPerSecond === undefined ? undefined : parseBytes(bytesPerSecond),
  });
}

/** Returns an identifier of the server that a store is on, or of the store itself if it is local. */
function placeOf(spec: StoreSpec): string {
  switch (spec.kind) {
    case "zip-value":
      return placeOf(spec.store);
    case "http":
      return new URL(spec.url).origin;
    case "s3":
      return `s3://${spec.bucket}`;
    case "memory":
      return `memory:${spec.name}`;
    case "object":
      return spec.description;
    default:
      return spec.path;
  }
}

export type Side = (typeof SIDES)[number];
