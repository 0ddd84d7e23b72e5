import type { Buffers } from "../../util/buffers.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { ChunkData, VariableData } from "../chunk-data.ts";
import { MAX_CHUNK_SIZE } from "../limits.ts";

/** Items of varying size, one after the other in a buffer of `buffers`. @throws `resource-limit` above 2 GiB. */
export function packItems(
  items: readonly Uint8Array[],
  shape: readonly number[],
  buffers: Buffers,
): VariableData {
  const size = items.reduce((sum, item) => sum + item.length, 0);
  if (size > MAX_CHUNK_SIZE) {
    throw new ZarrflowError("resource-limit", "the items of the chunk are above the limit of 2 GiB", {
      expected: MAX_CHUNK_SIZE,
      found: size,
    });
  }
  const bytes = buffers.take(size);
  const offsets = new Uint32Array(items.length + 1);
  let end = 0;
  for (const [i, item] of items.entries()) {
    bytes.set(item, end);
    end += item.length;
    offsets[i + 1] = end;
  }
  return { kind: "variable", bytes, offsets, shape };
}

/** Views of the items. @throws `codec-error` when `data` are of fixed size. */
export function itemViews(name: string, data: ChunkData): Uint8Array[] {
  const { bytes, offsets } = expectVariable(name, data);
  return Array.from({ length: offsets.length - 1 }, (_, i) => bytes.subarray(offsets[i], offsets[i + 1]));
}

export function expectVariable(name: string, data: ChunkData): VariableData {
  if (data.kind === "variable") return data;
  throw new ZarrflowError("codec-error", `\`${name}\` encodes items of varying length only`);
}
