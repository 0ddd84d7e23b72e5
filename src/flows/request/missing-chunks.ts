import type { ZarrNode } from "../../hierarchy/node.ts";
import {
  type ArrayMetadata,
  gridShape,
  type NodeMetadata,
  type ZarrFormat,
} from "../../meta/array-metadata.ts";
import { Losses } from "../../meta/documents.ts";
import { zeroItem } from "../../meta/fill-values.ts";
import type { Change } from "../../plan/request.ts";
import type { MissingCount } from "../../plan/strategies.ts";
import { isListable, type ListableStore } from "../../stores/store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import {
  axesOver,
  type ChunkSet,
  chunksHit,
  type Selection,
  wholeSelection,
} from "../../streams/selection.ts";
import { bytesEqual } from "../../util/bytes.ts";
import { product } from "../../util/shape.ts";

/** Maximum number of missing chunks of one array that are written out without permission. */
export const MAX_MISSING_CHUNKS = 10_000;

export interface MissingChunksRequest {
  /** The nodes to take. */
  readonly nodes: readonly ZarrNode[];
  /** Metadata in the target's format, by path. */
  readonly converted: ReadonlyMap<string, NodeMetadata>;
  readonly change: (path: string, metadata: ArrayMetadata) => Change | undefined;
  readonly to: ZarrFormat;
  readonly allowLoss?: readonly string[] | undefined;
  /** Maximum requests in flight. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Counts the missing chunks of each array whose fill value differs in the target's format, as they must be written
 * out. Lists the chunks if the store can; otherwise assumes that all are missing. Of a sharded array, only the
 * chunks of missing shards count, as a listing does not show those inside shards.
 *
 * @throws `loss-refused` with `/fill_value` for an array with more than 10,000 missing chunks, unless allowed.
 */
export async function missingChunks({
  nodes,
  converted,
  change,
  to,
  allowLoss,
  concurrency,
  signal,
}: MissingChunksRequest): Promise<ReadonlyMap<string, MissingCount>> {
  const missing = new Map<string, MissingCount>();
  const count = async (node: ZarrNode, context: { readonly signal: AbortSignal }) => {
    const target = converted.get(node.path) ?? node.metadata;
    if (node.kind !== "array" || target?.kind !== "array") return;
    const { reading, selection = wholeSelection(node.metadata.shape) } = change(node.path, target) ?? {};
    const [from, fill] = [node.metadata.fillValue.bytes, target.fillValue.bytes];
    if (reading ? !reading.isMissingWritten : sameBytes(from, fill)) return;
    // Without a fill value, missing chunks read as zeros. If the target's fill value is zero, they can stay
    // missing.
    if (!reading && from === null && sameBytes(zeroItem(node.metadata.dataType), fill)) {
      missing.set(node.path, { chunks: 0, isCertain: true });
      return;
    }
    const found = await countMissing(node, selection, context.signal);
    missing.set(node.path, found);
    if (reading) return;
    const losses = new Losses(allowLoss);
    if (found.isListed && found.chunks > MAX_MISSING_CHUNKS) {
      const count = found.chunks.toLocaleString("en");
      losses.add(
        "/fill_value",
        `${count} missing chunks would have to be written, because the fill value differs in ${to}`,
      );
    }
    losses.check(to, node.path);
  };
  await forEachConcurrent(nodes, count, { concurrency, signal });
  return missing;
}

function sameBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : bytesEqual(a, b);
}

async function countMissing(
  array: Extract<ZarrNode, { readonly kind: "array" }>,
  selection: Selection,
  signal: AbortSignal | undefined,
): Promise<MissingCount & { readonly isListed: boolean }> {
  const { chunkShape, innerChunkShape } = array.metadata.chunkGrid;
  const hit = axesOver(selection, chunkShape).map((axis) => chunksHit(axis, 0, axis.count));
  const keys = product(hit.map(({ count }) => count));
  const inEach = innerChunkShape ? product(gridShape(chunkShape, innerChunkShape)) : 1;
  const { store } = array;
  if (!isListable(store)) return { chunks: keys * inEach, isCertain: false, isListed: false };
  const present = await countPresent(array, store, hit, signal);
  return { chunks: (keys - present) * inEach, isCertain: innerChunkShape === undefined, isListed: true };
}

async function countPresent(
  { layout, metadata }: Extract<ZarrNode, { readonly kind: "array" }>,
  store: ListableStore,
  hit: readonly ChunkSet[],
  signal: AbortSignal | undefined,
): Promise<number> {
  let present = 0;
  for await (const { key } of store.list(layout.chunksPrefix, { signal })) {
    const coords = layout.parseChunkKey(key, hit.length, metadata.chunkKeyEncoding);
    if (coords?.every((at, d) => hit[d]?.has(at))) present++;
  }
  return present;
}
