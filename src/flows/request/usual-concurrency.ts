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
/** The part of the budget that may hold what requests ask for, where they are more than at the start. */
const BUDGET_PART = 16;

/** Requests in flight for each store of a flow, where nobody says how many: at a server as many as at the start. */
export function usualConcurrency(
  concurrency: ConcurrencyOption | undefined,
  ...stores: readonly StoreSpec[]
): number {
  if (concurrency !== undefined && concurrency !== "auto") return concurrency;
  return isFar(stores) ? FIRST_ALLOWED : NEAR;
}

/** What a flow reads and writes, as far as it bounds requests in flight. */
export interface ConcurrencyRequest {
  readonly concurrency: ConcurrencyOption | undefined;
  readonly stores: readonly StoreSpec[];
  readonly maxMemory: number;
  /** The largest chunk; undefined where sizes are not known. */
  readonly chunkBytes: number | undefined;
}

/** Requests in flight of a flow, and whether they are found while it runs: `concurrency` is the most then. */
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

/** Decoded bytes of the largest chunk, or shard; undefined where there is no array. */
export function largestChunk(nodes: readonly Pick<ZarrNode, "metadata">[]): number | undefined {
  const sizes = nodes.flatMap(({ metadata }) => (metadata.kind === "array" ? chunkBytes(metadata) : []));
  return sizes.length === 0 ? undefined : Math.max(...sizes);
}

function chunkBytes({ chunkGrid, dataType }: ArrayMetadata): number {
  return product(chunkGrid.chunkShape) * expectedItemSize(dataType);
}

/** Holds requests to a server to the number that is stated, if one is, until what is returned is called. */
export function limitConcurrency({
  concurrency,
  context,
}: Pick<SourceOptions, "concurrency" | "context">): () => void {
  return concurrency === undefined || concurrency === "auto"
    ? () => {}
    : limitRequests({ most: concurrency, isFixed: true, owner: context });
}

/** The same of requests that are found to be of use: they are no more than planned. */
export function limitAdaptive({
  concurrency,
  isAdaptive,
}: Pick<Execution, "concurrency" | "isAdaptive">): () => void {
  return isAdaptive ? limitRequests({ most: concurrency, isFixed: false }) : () => {};
}

/** Opens something; a limit of requests ends when it is closed, or cannot be opened. */
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

/** `ioOf` what is read of one array. */
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
