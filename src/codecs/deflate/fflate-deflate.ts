import { crc32 } from "../../util/crc32.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { adler32 } from "../kernels/adler32.ts";
import { wordView } from "../kernels/swap-bytes.ts";
import { corrupt, overrun } from "../limits.ts";
import type { Deflate } from "./deflate.ts";

/** Input is passed on in pieces, so that a decompression bomb is noticed early. */
const PIECE = 16_384;

/** zlib's level for -1, which fflate does not support. */
const DEFAULT_LEVEL = -1;
const USUAL_LEVEL = 6;

type Level = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

type Fflate = typeof import("fflate");

/** Implements deflate with fflate, for browsers. fflate does not verify checksums and lengths, so this does. */
export const fflateDeflate = ({ Gunzip, gzipSync, Unzlib, zlibSync }: Fflate): Deflate => ({
  inflate(format, source, target) {
    try {
      const output = new Output(target);
      const add = (piece: Uint8Array) => output.append(piece);
      return format === "gzip"
        ? gunzip(source, output, new Gunzip(add))
        : unzlib(source, output, new Unzlib(add));
    } catch (error) {
      if (isZarrflowError(error)) throw error;
      throw corrupt(`not valid ${format} data, or truncated`, {}, { cause: error });
    }
  },
  deflate(format, source, target, level) {
    const options = { level: (level === DEFAULT_LEVEL ? USUAL_LEVEL : level) as Level };
    const encoded =
      format === "gzip" ? gzipSync(source, { ...options, mtime: 0 }) : zlibSync(source, options);
    if (encoded.length > target.length) return 0;
    target.set(encoded);
    return encoded.length;
  },
});

/** Accepts pieces of input. */
interface Inflater {
  push(piece: Uint8Array, final: boolean): void;
}

function unzlib(source: Uint8Array, output: Output, inflater: Inflater): number {
  pushPieces(source, inflater);
  const stored = wordView(source).getUint32(source.length - 4, false);
  if (adler32(output.from(0)) !== stored) throw corrupt("the checksum of the zlib data differs");
  return output.written;
}

function gunzip(
  source: Uint8Array,
  output: Output,
  members: Inflater & { onmember?: (end: number) => void },
): number {
  let memberStart = 0;
  const endMember = (end: number) => {
    if (end < 18) throw corrupt("the gzip data is truncated");
    const member = output.from(memberStart);
    const trailer = wordView(source.subarray(end - 8, end));
    if (crc32(member) !== trailer.getUint32(0, true) || member.length !== trailer.getUint32(4, true)) {
      throw corrupt("the checksum or length of the gzip data differs");
    }
    memberStart = output.written;
  };
  members.onmember = endMember;
  pushPieces(source, members);
  endMember(source.length);
  return output.written;
}

function pushPieces(source: Uint8Array, to: Inflater): void {
  for (let i = 0; i < source.length; i += PIECE) {
    to.push(source.subarray(i, i + PIECE), i + PIECE >= source.length);
  }
}

/** Collects pieces of output in a target that bounds them. */
class Output {
  readonly #target: Uint8Array;
  written = 0;

  constructor(target: Uint8Array) {
    this.#target = target;
  }

  /** The bytes written from `start` on. */
  from(start: number): Uint8Array {
    return this.#target.subarray(start, this.written);
  }

  append(piece: Uint8Array): void {
    if (this.written + piece.length > this.#target.length) throw overrun(this.#target.length);
    this.#target.set(piece, this.written);
    this.written += piece.length;
  }
}
