import type { ChunkData } from "../../codecs/chunk-data.ts";

/**
 * The bytes of items `[from, to)` in C order. The length (8 bytes, little-endian) precedes each item of varying size.
 */
export function* itemBytes(data: ChunkData, from: number, to: number): Generator<Uint8Array> {
  if (data.kind === "fixed") {
    yield data.bytes.subarray(from * data.itemSize, to * data.itemSize);
    return;
  }
  const length = new DataView(new ArrayBuffer(8));
  for (let i = from; i < to; i++) {
    const start = data.offsets[i] ?? 0;
    const end = data.offsets[i + 1] ?? 0;
    length.setBigUint64(0, BigInt(end - start), true);
    yield new Uint8Array(length.buffer);
    yield data.bytes.subarray(start, end);
  }
}
