import type { Buffers } from "../../util/buffers.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import type { ChunkData, VariableData } from "../chunk-data.ts";
import { MAX_CHUNK_SIZE } from "../limits.ts";

/**
 * Packs items of varying size one after another in a pooled buffer.
 *
 * @throws `resource-limit` above 2 GiB.
 */
export function packItems(
  items: readonly Uint8Array[],
  shape: readonly number[],
  buffers: Buffers,
): VariableData {
  const size = items.reduce((sum, item) => sum + item.length, 0);
  if (size > MAX_CHUNK_SIZE) throw tooLarge(size);
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

/** The most bytes of UTF-8 for one UTF-16 code unit. */
const MAX_UNIT_SIZE = 3;

/**
 * Packs texts as UTF-8 one after another in a pooled buffer. Encodes each text as soon as the iterator yields it.
 *
 * @param usualSize expected size of all texts, in bytes
 * @throws `resource-limit` above 2 GiB; what `texts` throws. The buffer is then given back.
 */
export function packTexts(
  texts: Iterable<string>,
  shape: readonly number[],
  usualSize: number,
  buffers: Buffers,
): VariableData {
  const encoder = new TextEncoder();
  const offsets = new Uint32Array(product(shape) + 1);
  let bytes = buffers.take(usualSize);
  let end = 0;
  let items = 0;
  try {
    for (const text of texts) {
      const most = end + MAX_UNIT_SIZE * text.length;
      if (most > bytes.length) {
        const larger = buffers.take(Math.max(most, 2 * bytes.length));
        larger.set(bytes.subarray(0, end));
        buffers.give(bytes);
        bytes = larger;
      }
      end += encoder.encodeInto(text, bytes.subarray(end)).written;
      if (end > MAX_CHUNK_SIZE) throw tooLarge(end);
      offsets[++items] = end;
    }
  } catch (error) {
    buffers.give(bytes);
    throw error;
  }
  return { kind: "variable", bytes: bytes.subarray(0, end), offsets, shape };
}

function tooLarge(size: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "the items of the chunk are above the limit of 2 GiB", {
    expected: MAX_CHUNK_SIZE,
    found: size,
  });
}

/** Approximate memory of an item as a JavaScript value: an object with a few members or a short list. */
const VALUE_SIZE = 256;

/** Approximate memory of a codec that holds all items of a chunk as JavaScript values. */
export function valuesSize(shape: readonly number[]): number {
  return VALUE_SIZE * product(shape);
}

/**
 * Calls `read` with a view of each item and collects the results.
 *
 * @throws `codec-error` if the items of `data` have a fixed size.
 */
export function mapItems<T>(
  name: string,
  data: ChunkData,
  read: (item: Uint8Array, index: number) => T,
): T[] {
  const { bytes, offsets } = assertVariable(name, data);
  return Array.from({ length: offsets.length - 1 }, (_, i) =>
    read(bytes.subarray(offsets[i], offsets[i + 1]), i),
  );
}

export function assertVariable(name: string, data: ChunkData): VariableData {
  if (data.kind === "variable") return data;
  throw new ZarrflowError("codec-error", `\`${name}\` encodes items of varying length only`);
}
