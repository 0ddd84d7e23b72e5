import { codecsIn } from "../../src/codecs/kernels/wasm-codecs.ts";
import { WasmMemory } from "../../src/codecs/kernels/wasm-memory.ts";
import { Fault } from "./subject.ts";

type Bounds = [source: number, sourceEnd: number, target: number, targetEnd: number];

/** Decoders of the module that are given the bounds of a source and of a target. */
const DECODERS = {
  lz4Decode: (wasm: WasmMemory, ...bounds: Bounds) => codecsIn(wasm).lz4Decode(...bounds, 0),
  lz4Prefix: (wasm: WasmMemory, ...bounds: Bounds) => codecsIn(wasm).lz4Decode(...bounds, 1),
  blosclzDecode: (wasm: WasmMemory, ...bounds: Bounds) => codecsIn(wasm).blosclzDecode(...bounds),
  zstdDecode: (wasm: WasmMemory, ...bounds: Bounds) => wasm.exports.zstdDecode(...bounds),
};
export type DecoderName = keyof typeof DECODERS;

const GUARD = 256;
/** Kernels may touch this many bytes behind a target. */
const SLACK = 64;

/** Runs decoders within the module's own memory, where nothing else would notice that they leave their buffers. */
export class WasmArena {
  readonly #wasm = new WasmMemory();
  #poison = 0;

  /** @returns what the decoder does; its output is in `target` then. @throws Fault when it leaves its buffers. */
  decode(name: DecoderName, source: Uint8Array, target: Uint8Array): number {
    const wasm = this.#wasm;
    const places = wasm.allocate(GUARD, source.length, GUARD, target.length, GUARD + SLACK);
    const [before = 0, from = 0, between = 0, to = 0, behind = 0] = places;
    const end = behind + GUARD + SLACK;
    // Other bytes each time, so that what is read outside shows in the output.
    this.#poison = (this.#poison + 0x53) & 0xff;
    wasm.bytes.fill(this.#poison, before, end);
    wasm.bytes.set(source, from);
    const written = DECODERS[name](wasm, from, from + source.length, to, to + target.length);
    if (written < -1 || written > target.length) throw new Fault(`${name} returned ${written}`);
    this.#checkGuard(name, before, from);
    if (Buffer.compare(wasm.bytes.subarray(from, from + source.length), source) !== 0) {
      throw new Fault(`${name} changed its source`);
    }
    this.#checkGuard(name, between, between + GUARD);
    this.#checkGuard(name, to + target.length + SLACK, end);
    if (written > 0) target.set(wasm.bytes.subarray(to, to + written));
    return written;
  }

  #checkGuard(name: string, start: number, end: number): void {
    const { bytes } = this.#wasm;
    for (let at = start; at < end; at++) {
      if (bytes[at] !== this.#poison) throw new Fault(`${name} wrote outside, at ${at - start} of a guard`);
    }
  }
}
