import type { BlockKernels, BlockLayout } from "./kernel-types.ts";
import { wordView } from "./swap-bytes.ts";
import { codecsIn, zstdRoom } from "./wasm-codecs.ts";
import { PIECE, type WasmMemory } from "./wasm-memory.ts";

const MAX_BLOCK = 256 * 1024 * 1024;

/** Encodes one stream. `effort` is the acceleration of lz4 or the level of zstd; zstd ignores `targetEnd`. */
type EncodeStream = (
  wasm: WasmMemory,
  source: number,
  sourceEnd: number,
  target: number,
  targetEnd: number,
  effort: number,
) => number;

const ENCODERS = {
  blosclz: (wasm, s, sEnd, t, tEnd) => codecsIn(wasm).blosclzEncode(s, sEnd, t, tEnd),
  lz4: (wasm, s, sEnd, t, tEnd, effort) => codecsIn(wasm).lz4Encode(s, sEnd, t, tEnd, effort),
  zstd: (wasm, s, sEnd, t, _, effort) => codecsIn(wasm).zstdEncode(s, sEnd, t, effort, 0),
} satisfies Record<string, EncodeStream>;
type InnerName = keyof typeof ENCODERS;

/**
 * Decodes at least the first `wanted` bytes of a stream, at most up to `targetEnd`.
 *
 * @returns true if the stream contains them.
 */
type DecodeStream = (
  wasm: WasmMemory,
  source: number,
  sourceEnd: number,
  target: number,
  targetEnd: number,
  wanted: number,
) => boolean;

const DECODERS: Readonly<Record<InnerName, DecodeStream>> = {
  blosclz: (wasm, s, sEnd, t, tEnd) => codecsIn(wasm).blosclzDecode(s, sEnd, t, tEnd) === tEnd - t,
  lz4: (wasm, s, sEnd, t, tEnd, wanted) =>
    codecsIn(wasm).lz4Decode(s, sEnd, t, t + wanted, t + wanted < tEnd ? 1 : 0) === wanted,
  zstd: (wasm, s, sEnd, t, tEnd) => wasm.exports.zstdDecode(s, sEnd, t, tEnd) === tEnd - t,
};

/**
 * Encodes and decodes blosc blocks. To encode, it copies pieces that fit in the nearer caches into the kernels' memory,
 * unless they are there already. It shuffles each piece to its place in the block, then encodes the block stream by
 * stream. Decoding is the reverse.
 */
export function wasmBlocks(wasm: WasmMemory): BlockKernels {
  return {
    maxSize: MAX_BLOCK,
    inner: Object.keys(ENCODERS),

    encode(source, target, layout, effort) {
      const encodeStream: EncodeStream = ENCODERS[layout.inner as InnerName];
      const plainSize = source.length / layout.streams;
      // zstd needs more room than the target has.
      const goesAside = layout.inner === "zstd";
      const streamRoom = goesAside ? zstdRoom(plainSize) : plainSize;
      const places = placesOf(wasm.allocate(source.length, PIECE, PIECE, streamRoom));
      const block = shuffleInto(wasm, source, layout, places);
      const words = wordView(target);
      const isDirect = wasm.holds(target) && !goesAside;
      const end = block + source.length;
      let t = 0;
      for (let s = block; s < end; s += plainSize) {
        const room = Math.min(plainSize, target.length - t - 4);
        if (room <= 0) return 0;
        const stream = isDirect ? target.byteOffset + t + 4 : places.stream;
        const size = encodeStream(wasm, s, s + plainSize, stream, stream + room, effort);
        const isPlain = size === 0 || size > room || size === plainSize;
        if (isPlain && plainSize > room) return 0;
        const length = isPlain ? plainSize : size;
        const start = isPlain ? s : stream;
        words.setInt32(t, length, true);
        if (isPlain || !isDirect) target.set(wasm.bytes.subarray(start, start + length), t + 4);
        t += 4 + length;
      }
      return t;
    },

    decode(source, target, layout, size, offset) {
      const plainSize = size / layout.streams;
      const words = wordView(source);
      const places = placesOf(wasm.allocate(size, PIECE, PIECE, source.length));
      const decodeStream = DECODERS[layout.inner as InnerName];
      const wanted = { start: offset, end: offset + target.length };
      const isInPlace = layout.mode === "noshuffle" && target.length === size && wasm.holds(target);
      const block = isInPlace ? target.byteOffset : places.block;
      for (let s = 0, stream = 0; s < source.length; stream++) {
        const length = words.getInt32(s, true);
        const encoded = source.subarray(s + 4, s + 4 + length);
        s += 4 + length;
        const t = block + stream * plainSize;
        const { start, end } = rangeInStream(layout, size, stream, wanted);
        if (end <= start) continue;
        if (length === plainSize) wasm.bytes.set(encoded.subarray(start, end), t + start);
        else {
          const from = wasm.copyIn(encoded, places.stream);
          if (!decodeStream(wasm, from, from + length, t, t + plainSize, end)) return false;
        }
      }
      if (!isInPlace) unshuffleFrom(wasm, target, layout, places, size, offset);
      return true;
    },
  };
}

/** Addresses in the memory. */
interface Places {
  /** The whole block, shuffled. */
  readonly block: number;
  /** A piece of items, and a piece of byte planes that must still be split into bits. */
  readonly items: number;
  readonly planes: number;
  /** One encoded stream. */
  readonly stream: number;
}

function placesOf([block = 0, items = 0, planes = 0, stream = 0]: readonly number[]): Places {
  return { block, items, planes, stream };
}

/** Shuffles the block to its place, or leaves it where it is. Returns its address. */
function shuffleInto(
  wasm: WasmMemory,
  source: Uint8Array,
  { mode, itemSize }: BlockLayout,
  { block, items, planes }: Places,
): number {
  if (mode === "noshuffle") return wasm.copyIn(source, block);
  const total = Math.floor(source.length / itemSize);
  const whole = total * itemSize;
  forPieces(0, total, itemSize, (first, count) => {
    const piece = wasm.copyIn(source.subarray(first * itemSize, (first + count) * itemSize), items);
    if (mode === "shuffle") codecsIn(wasm).shuffle(piece, block + first, count, itemSize, total);
    else {
      codecsIn(wasm).shuffle(piece, planes, count, itemSize, count);
      codecsIn(wasm).splitBits(planes, block + first / 8, itemSize, count, total / 8);
    }
  });
  wasm.bytes.set(source.subarray(whole), block + whole);
  return block;
}

/** Unshuffles the part of a block of `size` bytes that fills the target, from `offset` on. */
function unshuffleFrom(
  wasm: WasmMemory,
  target: Uint8Array,
  { mode, itemSize }: BlockLayout,
  { block, items, planes }: Places,
  size: number,
  offset: number,
): void {
  const end = offset + target.length;
  /** Copies the requested part of the bytes `[start, stop)` of the block, which are at `address`. */
  const take = (start: number, stop: number, address: number) => {
    const from = Math.max(start, offset);
    const to = Math.min(stop, end);
    if (from >= to) return;
    target.set(wasm.bytes.subarray(address + from - start, address + to - start), from - offset);
  };
  const total = mode === "noshuffle" ? 0 : Math.floor(size / itemSize);
  // Eight items share the bytes of their bits.
  const unit = mode === "shuffle" ? 1 : 8;
  const first = unit * Math.floor(offset / itemSize / unit);
  const last = Math.min(total, unit * Math.ceil(end / itemSize / unit));
  forPieces(first, last, itemSize, (at, count) => {
    const start = at * itemSize;
    const stop = start + count * itemSize;
    const isInPlace = wasm.holds(target) && offset <= start && stop <= end;
    const piece = isInPlace ? target.byteOffset + start - offset : items;
    if (mode === "shuffle") codecsIn(wasm).unshuffle(block + at, piece, count, itemSize, total);
    else {
      codecsIn(wasm).joinBits(block + at / 8, planes, itemSize, count, total / 8);
      codecsIn(wasm).unshuffle(planes, piece, count, itemSize, count);
    }
    if (!isInPlace) take(start, stop, piece);
  });
  const whole = total * itemSize;
  take(whole, size, block + whole);
}

/**
 * Visits items `[first, last)` in pieces. If items are small enough, all pieces but the last are multiples of 16 items.
 */
function forPieces(
  first: number,
  last: number,
  itemSize: number,
  visit: (first: number, count: number) => void,
): void {
  const most = Math.floor(PIECE / itemSize) & ~15;
  for (let at = first; at < last; at += most) visit(at, Math.min(most, last - at));
}

/** The bytes `[start, end)`; empty if the end is not after the start. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The part of one stream of a shuffled block that contributes to the bytes `[start, end)` of the block.
 *
 * @param size bytes of the block
 * @param stream index of the stream in the block
 */
export function rangeInStream(
  { mode, itemSize, streams }: BlockLayout,
  size: number,
  stream: number,
  { start, end }: Span,
): Span {
  const plainSize = size / streams;
  if (mode === "noshuffle") {
    const first = stream * plainSize;
    return { start: Math.max(0, start - first), end: Math.min(plainSize, end - first) };
  }
  const items = Math.floor(size / itemSize);
  // Bytes after the last whole item are at the end.
  if (end > items * itemSize) return { start: 0, end: plainSize };
  const first = Math.floor(start / itemSize);
  const last = Math.ceil(end / itemSize);
  // The stream is the plane of one byte of all items, or contains all planes.
  const behindPlane = plainSize - items;
  if (mode === "shuffle") return { start: first, end: behindPlane + last };
  // A plane consists of eight planes of bits.
  const bits = items / 8;
  return { start: Math.floor(first / 8), end: behindPlane + 7 * bits + Math.ceil(last / 8) };
}
