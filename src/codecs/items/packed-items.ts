import type { Buffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import type { ChunkData, VariableData } from "../chunk-data.ts";
import { wordView } from "../kernels/swap-bytes.ts";
import { corrupt, MAX_CHUNK_SIZE } from "../limits.ts";

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
  return new ZarrflowError("resource-limit", "the items of the chunk exceed the limit of 2 GiB", {
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
  throw new ZarrflowError("codec-error", `\`${name}\` encodes only variable-length items`);
}

/** True if `bytes[start, end)` is valid UTF-8: no truncated or overlong form, no surrogate, nothing above U+10FFFF. */
export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  const words = wordView(bytes);
  let i = start;
  while (i < end) {
    while (i + 4 <= end && (words.getInt32(i, true) & 0x8080_8080) === 0) i += 4;
    if (i === end) return true;
    const lead = words.getUint8(i++);
    if (lead < 0x80) continue;
    const more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || i + more > end) return false;
    const second = words.getUint8(i);
    if (lead === 0xe0 && second < 0xa0) return false;
    if (lead === 0xed && second >= 0xa0) return false;
    if (lead === 0xf0 && second < 0x90) return false;
    if (lead === 0xf4 && second >= 0x90) return false;
    for (const stop = i + more; i < stop; i++) if (!isContinuation(words.getUint8(i))) return false;
  }
  return true;
}

/** True if `byte` is the second or a later byte of a character. */
function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/**
 * Checks that each item on its own is valid UTF-8.
 *
 * @throws `corrupt-chunk` naming the first item that is not.
 */
export function assertStrings({ bytes, offsets }: VariableData): void {
  const items = offsets.length - 1;
  // Fast path: all bytes together are valid, and no item starts within a character.
  if (isUtf8(bytes, 0, bytes.length) && offsets.every((start) => !isContinuation(bytes[start] ?? 0))) return;
  for (let i = 0; i < items; i++) {
    if (!isUtf8(bytes, offsets[i] ?? 0, offsets[i + 1] ?? 0)) throw corrupt(`item ${i} is not valid UTF-8`);
  }
}
