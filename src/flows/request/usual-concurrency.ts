import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import type { ConcurrencyOption, SourceOptions } from "../../hierarchy/read-options.ts";
import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { expectedItemSize } from "../../meta/data-type.ts";
import { FIRST_ALLOWED, MAX_ALLOWED } from "../../stores/remote/concurrency-control.ts";
import { limitRequests } from "../../stores/remote/server-counters.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { storeTraits } from "../../stores/store-traits.ts";
import { product } from "../../util/shape.ts";
import type { Execution } from "../plan/plan.ts";

const NEAR = 16;
/** Divisor of the memory budget: more requests than at the start may only use this part of it. */
const BUDGET_PART = 16;

/**
 * Returns the requests in flight for each store of a flow. The default for a server is the initial limit of the
 * adaptive mode.
 */
export function usualConcurrency(
  concurrency: ConcurrencyOption | undefined,
  ...stores: readonly StoreSpec[]
): number {
  if (concurrency !== undefined && concurrency !== "auto") return concurrency;
  return isFar(stores) ? FIRST_ALLOWED : NEAR;
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
  if (isStated || !isFar(stores)) return { concurrency: usual };
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

/** The same for an adaptive number of requests, up to the planned maximum. */
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

function isFar(stores: readonly StoreSpec[]): boolean {
  return stores.some((store) => storeTraits(store).isRemote);
}
