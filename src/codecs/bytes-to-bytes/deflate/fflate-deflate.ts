import { Gunzip, gzipSync, Unzlib, zlibSync } from "fflate";
import { crc32 } from "../../../util/crc32.ts";
import { isZarrflowError } from "../../../util/errors.ts";
import { corrupt, overrun } from "../../failures.ts";
import { adler32 } from "../../kernels/checksums.ts";
import { wordsOf } from "../../kernels/words.ts";
import type { Deflate } from "./deflate.ts";

/** Input is handed on in pieces, so that a bomb is noticed before much of it is inflated. */
const PIECE = 16_384;

/** What zlib takes for -1; fflate does not know it. */
const DEFAULT_LEVEL = -1;
const USUAL_LEVEL = 6;

type Level = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** Deflate by fflate, for browsers. It leaves checksums and lengths to us. */
export const fflateDeflate: Deflate = {
  inflate(format, source, target) {
    try {
      return format === "gzip" ? gunzip(source, target) : unzlib(source, target);
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
};

function unzlib(source: Uint8Array, target: Uint8Array): number {
  const output = new Output(target);
  pushPieces(source, new Unzlib((piece) => output.append(piece)));
  const { written } = output;
  const stored = wordsOf(source).getUint32(source.length - 4, false);
  if (adler32(target.subarray(0, written)) !== stored) throw corrupt("the checksum of the zlib data differs");
  return written;
}

function gunzip(source: Uint8Array, target: Uint8Array): number {
  const output = new Output(target);
  const members = new Gunzip((piece) => output.append(piece));
  let memberStart = 0;
  const endMember = (end: number) => {
    if (end < 18) throw corrupt("the gzip data are cut off");
    const member = target.subarray(memberStart, output.written);
    const trailer = wordsOf(source.subarray(end - 8, end));
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

function pushPieces(source: Uint8Array, to: { push(piece: Uint8Array, final: boolean): void }): void {
  for (let i = 0; i < source.length; i += PIECE) {
    to.push(source.subarray(i, i + PIECE), i + PIECE >= source.length);
  }
}

/** Gathers pieces of output in a target that bounds them. */
class Output {
  readonly #target: Uint8Array;
  written = 0;

  constructor(target: Uint8Array) {
    this.#target = target;
  }

  append(piece: Uint8Array): void {
    if (this.written + piece.length > this.#target.length) throw overrun(this.#target.length);
    this.#target.set(piece, this.written);
    this.written += piece.length;
  }
}
