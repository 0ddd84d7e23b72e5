import type { ChunkData, VariableData } from "../../src/codecs/chunk-data.ts";
import type { Buffers } from "../../src/util/bytes.ts";
import { cStrides } from "../../src/util/shape.ts";
import { type CodecSample, itemSizeOf, LABELS } from "./codec-samples.ts";
import { variableData } from "./support.ts";

/** What the codec of `sample` may be given, made of any bytes; its own bytes are taken from `buffers`. */
export function sampleChunk(sample: CodecSample, bytes: Uint8Array, buffers: Buffers): ChunkData {
  const { dataType } = sample;
  const kind = dataType?.kind;
  if (kind === "string" || kind === "binary" || kind === "object")
    return variableChunk(sample, bytes, buffers);
  const itemSize = itemSizeOf(sample);
  const items = itemCount(sample, Math.floor(bytes.length / itemSize));
  const shape = [items];
  const taken = buffers.take(itemSize * items).fill(0);
  taken.set(bytes.subarray(0, taken.length));
  if (sample.content === "flags") for (const [i, byte] of taken.entries()) taken[i] = byte & 1;
  if (sample.content === "labels") {
    for (let i = 0; i < taken.length; i += itemSize)
      writeText(taken.subarray(i, i + itemSize), label(taken[i]));
  }
  if (sample.content === "numbers") {
    for (let i = 0; i < taken.length; i += itemSize) {
      writeFloat(taken, i, itemSize, ((taken[i] ?? 0) - 100) * 1.37);
    }
  }
  return { kind: "fixed", bytes: taken, itemSize, shape, strides: cStrides(shape) };
}

function itemCount({ itemsMultiple = 1 }: CodecSample, items: number): number {
  const least = itemsMultiple > 1 ? itemsMultiple : 0;
  return Math.max(least, items - (items % itemsMultiple));
}

/** Items of 0 to 11 bytes, or text of as many characters. */
function variableChunk(sample: CodecSample, bytes: Uint8Array, buffers: Buffers): VariableData {
  const found: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    const length = (bytes[start] ?? 0) % 12;
    found.push(itemOf(sample, bytes.subarray(start + 1, start + 1 + length)));
    start += 1 + length;
  }
  const length = itemCount(sample, found.length);
  const items = Array.from({ length }, (_, i) => found[i] ?? itemOf(sample, bytes.subarray(0, 0)));
  return variableData(items, [length], buffers);
}

function itemOf({ dataType, content, configuration }: CodecSample, bytes: Uint8Array): Uint8Array {
  if (dataType?.kind === "binary") return bytes;
  const text = String.fromCodePoint(...[...bytes].map((byte) => (byte < 250 ? byte : 0x1f500 + byte)));
  return new Uint8Array(Buffer.from(textOf()));

  function textOf(): string {
    if (content === "labels") return label(bytes.length);
    if (content === "lists") {
      const half = String(configuration.dtype).includes("f") ? 0.5 : 0;
      return JSON.stringify(Array.from(bytes, (byte) => byte + half));
    }
    if (dataType?.kind === "string") return text;
    const values = [null, true, bytes.length, text, [bytes[0] ?? 0, text], { [text]: [] }, -1.5];
    return JSON.stringify(values[bytes.length % values.length]);
  }
}

function label(number = 0): string {
  return LABELS[number % LABELS.length] ?? "";
}

/** Code points of 4 bytes, as NumPy has them. */
function writeText(item: Uint8Array, text: string): void {
  const words = new DataView(item.fill(0).buffer, item.byteOffset, item.length);
  for (const [i, character] of [...text].entries())
    words.setUint32(4 * i, character.codePointAt(0) ?? 0, true);
}

/** The numbers of a chunk of floats. */
export function floatsOf(bytes: Uint8Array, itemSize: number): number[] {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / itemSize }, (_, i) =>
    itemSize === 4 ? words.getFloat32(4 * i, true) : words.getFloat64(8 * i, true),
  );
}

function writeFloat(bytes: Uint8Array, start: number, itemSize: number, value: number): void {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (itemSize === 4) words.setFloat32(start, value, true);
  else words.setFloat64(start, value, true);
}
