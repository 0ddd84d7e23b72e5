import * as fflate from "fflate";
import { loadDeflate } from "../../src/codecs/deflate/codec.ts";
import { fflateDeflate } from "../../src/codecs/deflate/fflate-deflate.ts";
import { joinBits, splitBits } from "../../src/codecs/kernels/bit-shuffle.ts";
import { blosclzDecode, blosclzEncode } from "../../src/codecs/kernels/blosclz.ts";
import { lz4Decode, lz4Encode } from "../../src/codecs/kernels/lz4-block.ts";
import { snappyDecode, snappyEncode } from "../../src/codecs/kernels/snappy.ts";
import { corrupt } from "../../src/codecs/limits.ts";
import { wasmKernels } from "../codecs/kernels/kernel-pair.ts";
import { plainKernels, type RangeCodec } from "../codecs/kernels/plain-kernels.ts";
import { loadLibraryZstd } from "../codecs/zstd/library-zstd.ts";
import { foreignFrames } from "./foreign-frames.ts";
import { inputs, longInputs } from "./inputs.ts";
import { CHUNK_CODES, Fault, type Seed, type Subject } from "./subject.ts";
import { type DecoderName, WasmArena } from "./wasm-arena.ts";

/** A decoder or encoder of whole views that tells failure by its result. */
type Kernel = (source: Uint8Array, target: Uint8Array) => number;

/** What codecs are made of, and what runs in its place elsewhere: each alone, and against its twin. */
export function kernelSubjects(): readonly Subject[] {
  const lz4 = unbounded(lz4Decode);
  const lz4Prefix = unbounded((...place) => lz4Decode(...place, true));
  const blosclz = unbounded(blosclzDecode);
  const encodeLz4: Kernel = (bytes, target) => lz4Encode(bytes, 0, bytes.length, target, 0, target.length, 1);
  const encodeBlosclz: Kernel = (bytes, target) =>
    blosclzEncode(bytes, 0, bytes.length, target, 0, target.length);
  const encodeSnappy: Kernel = (bytes, target) =>
    snappyEncode(bytes, 0, bytes.length, target, 0, target.length);
  return [
    subject("kernel lz4", () => blockSeeds(encodeLz4, twins(lz4, inWasm("lz4Decode")))),
    subject("kernel lz4 prefix", () => prefixSeeds(encodeLz4, twins(lz4Prefix, inWasm("lz4Prefix")))),
    subject("kernel blosclz", () => blockSeeds(encodeBlosclz, twins(blosclz, inWasm("blosclzDecode")))),
    subject("kernel snappy plain", () => blockSeeds(encodeSnappy, unbounded(snappyDecode))),
    subject("kernel unshuffle", shuffleSeeds),
    subject("kernel bit shuffle", bitSeeds),
    subject("kernel zstd wasm", zstdKernelSeeds),
    subject("fflate gzip", () => fflateSeeds("gzip")),
    subject("fflate zlib", () => fflateSeeds("zlib")),
  ];
}

function subject(name: string, seeds: () => readonly Seed[] | Promise<readonly Seed[]>): Subject {
  return { name, codes: CHUNK_CODES, seeds: async () => seeds() };
}

/** A decoder of ranges, given all that lies around its buffers: nothing but itself keeps it within them. */
function unbounded(decode: RangeCodec): Kernel {
  const around = (view: Uint8Array) => new Uint8Array(view.buffer);
  return (source, target) =>
    decode(
      around(source),
      source.byteOffset,
      source.byteOffset + source.length,
      around(target),
      target.byteOffset,
      target.byteOffset + target.length,
    );
}

function inWasm(name: DecoderName): Kernel {
  const arena = new WasmArena();
  return (source, target) => arena.decode(name, source, target);
}

/**
 * Two kernels that must agree on whether a frame is whole and on what it holds: the first one amid bytes that nobody may
 * touch, as the other has them in its own memory.
 */
function twins(one: Kernel, other: Kernel): Kernel {
  return (source, target) => {
    const copy = new Uint8Array(target.length);
    const [written, theirs] = [one(source, target), other(source, copy)];
    if (written !== theirs) throw new Fault(`one twin gives ${written} bytes, the other ${theirs}`);
    if (written > 0) expectSame(target.subarray(0, written), copy);
    return written;
  };
}

function expectSame(found: Uint8Array, twin: Uint8Array): void {
  if (Buffer.compare(found, twin.subarray(0, found.length)) !== 0)
    throw new Fault("the twins give other bytes");
}

function blockSeeds(encode: Kernel, decode: Kernel): Seed[] {
  return inputs().flatMap((bytes) => {
    const room = new Uint8Array(2 * bytes.length + 64);
    const size = encode(bytes, room);
    const frame = room.slice(0, size);
    return size === 0 ? [] : [{ frame, size: bytes.length, decode: refusing(decode) }];
  });
}

/** Frames of which no more than the first half is wanted. */
function prefixSeeds(encode: Kernel, decode: Kernel): Seed[] {
  return blockSeeds(encode, decode).map((seed) => ({ ...seed, size: Math.ceil(seed.size / 2) }));
}

function refusing(decode: Kernel): Kernel {
  return (source, target) => {
    const written = decode(source, target);
    if (written === -1) throw corrupt("the kernel refuses it");
    return written;
  };
}

/** Frames of any bytes, the first of them saying how large items are; other lengths than whole items too. */
function shuffleSeeds(): Seed[] {
  const [plain, wasm] = [plainKernels, wasmKernels];
  return [1, 2, 3, 4, 7, 8, 16, 33, 64, 80, 255].flatMap((itemSize) =>
    inputs().map((bytes) => ({
      frame: Uint8Array.of(itemSize, ...bytes),
      size: bytes.length,
      decode(source, target) {
        const size = source[0] || 1;
        const body = source.subarray(1, 1 + target.length);
        const [shuffled, twin] = [new Uint8Array(body.length), new Uint8Array(body.length)];
        wasm.unshuffle(body, target.subarray(0, body.length), size);
        plain.unshuffle(body, twin, size);
        expectSame(target.subarray(0, body.length), twin);
        wasm.shuffle(twin, shuffled, size);
        expectSame(shuffled, body);
        plain.shuffle(twin, shuffled, size);
        expectSame(shuffled, body);
        return body.length;
      },
    })),
  );
}

/** Planes of bits, the first byte saying how many, of a multiple of 8 items. */
function bitSeeds(): Seed[] {
  return [1, 2, 3, 4, 8, 16].flatMap((planes) =>
    inputs().map((bytes) => ({
      frame: Uint8Array.of(planes, ...bytes),
      size: bytes.length,
      decode(source, target) {
        const planes = source[0] || 1;
        const body = source.subarray(1, 1 + target.length);
        const items = Math.floor(body.length / planes / 8) * 8;
        const size = items * planes;
        const back = new Uint8Array(size);
        joinBits(body, 0, target, 0, planes, items);
        splitBits(target, 0, back, 0, planes, items);
        expectSame(back, body);
        target.set(body.subarray(size), size);
        return body.length;
      },
    })),
  );
}

function zstdFrames(): { frame: Uint8Array; size: number }[] {
  const { zstd } = wasmKernels;
  if (!zstd) throw new Error("there are no kernels for zstd");
  const own = [1, 3].flatMap((level) =>
    [false, true].flatMap((checksum) =>
      [...inputs(), ...longInputs()].map((bytes) => {
        const room = new Uint8Array(2 * bytes.length + 600);
        return { frame: room.slice(0, zstd.encode(bytes, room, level, checksum)), size: bytes.length };
      }),
    ),
  );
  const foreign = foreignFrames().filter(({ config }) => config.id === "zstd" && "level" in config);
  return [...own, ...foreign.map(({ frame, decoded }) => ({ frame, size: decoded.length }))];
}

/** The kernel in its memory; where both it and the library of zstd take a frame, they must give the same. */
async function zstdKernelSeeds(): Promise<Seed[]> {
  const library = await loadLibraryZstd();
  const kernel = refusing(inWasm("zstdDecode"));
  return zstdFrames().map((frame) => ({
    ...frame,
    decode(source, target) {
      const written = kernel(source, target);
      const copy = new Uint8Array(target.length);
      const theirs = library.decodeFrame(source, copy);
      if (theirs === -1) return written;
      if (theirs !== written) throw new Fault(`the kernel gives ${written} bytes, the library ${theirs}`);
      expectSame(target.subarray(0, written), copy);
      return written;
    },
  }));
}

/** fflate; what it takes, Node's zlib takes too, and gives the same. */
async function fflateSeeds(format: "gzip" | "zlib"): Promise<Seed[]> {
  const node = await loadDeflate();
  const own = inputs().map((decoded) => {
    const room = new Uint8Array(2 * decoded.length + 64);
    return { frame: room.slice(0, fflateDeflate(fflate).deflate(format, decoded, room, 6)), decoded };
  });
  const foreign = foreignFrames().filter(({ config }) => config.id === format);
  return [...own, ...foreign].map(({ frame, decoded }) => ({
    frame,
    size: decoded.length,
    decode(source, target) {
      const written = fflateDeflate(fflate).inflate(format, source, target);
      const copy = new Uint8Array(target.length);
      const theirs = node.inflate(format, source, copy);
      if (theirs !== written) throw new Fault(`fflate gives ${written} bytes, zlib ${theirs}`);
      expectSame(target.subarray(0, written), copy);
      return written;
    },
  }));
}
