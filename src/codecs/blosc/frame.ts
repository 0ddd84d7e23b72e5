import { ZarrflowError } from "../../util/errors.ts";
import { wordView } from "../kernels/swap-bytes.ts";
import { corrupt } from "../limits.ts";

export const HEADER_SIZE = 16;
const FORMAT_VERSION = 2;
const CODEC_VERSION = 1;
/** Blocks are split into one stream per byte of the item, except for large items and for streams shorter than this. */
export const MIN_STREAM = 128;
const MAX_STREAMS = 16;

const FLAGS = { shuffled: 0x01, stored: 0x02, bitShuffled: 0x04, unknown: 0x08, whole: 0x10 } as const;

export type Shuffle = "noshuffle" | "shuffle" | "bitshuffle";

/** The numbers of the inner codecs in headers. */
export const INNER_CODES = { blosclz: 0, lz4: 1, snappy: 2, zlib: 3, zstd: 4 } as const;
export type InnerName = keyof typeof INNER_CODES;
const INNER_NAMES = Object.keys(INNER_CODES) as InnerName[];

/** The 16-byte header of a blosc 1 value. */
export interface BloscHeader {
  readonly inner: InnerName;
  readonly shuffle: Shuffle;
  /** True if the data follow the header unchanged, neither shuffled nor encoded. */
  readonly isStored: boolean;
  /** True if blocks may be split into streams. */
  readonly mayBeSplit: boolean;
  readonly typeSize: number;
  /** Decoded bytes. */
  readonly size: number;
  readonly blockSize: number;
  /** Bytes of the whole value, including this header. */
  readonly encodedSize: number;
}

/**
 * @throws `codec-error` if the value has another version or an unknown inner codec; `corrupt-chunk` if the header
 *   contradicts itself or the value.
 */
export function readHeader(source: Uint8Array): BloscHeader {
  if (source.length < HEADER_SIZE) {
    throw corrupt("the blosc header is truncated", { expected: HEADER_SIZE, found: source.length });
  }
  const words = wordView(source);
  const version = words.getUint8(0);
  if (version !== FORMAT_VERSION) {
    throw new ZarrflowError("codec-error", `blosc format version ${version} is not known`, {
      expected: FORMAT_VERSION,
      found: version,
    });
  }
  const flags = words.getUint8(2);
  const inner = INNER_NAMES[flags >>> 5];
  if (inner === undefined || (flags & FLAGS.unknown) !== 0) {
    throw new ZarrflowError("codec-error", `blosc flags ${flags} select an unknown inner codec`);
  }
  const header: BloscHeader = {
    inner,
    shuffle: flags & FLAGS.shuffled ? "shuffle" : flags & FLAGS.bitShuffled ? "bitshuffle" : "noshuffle",
    isStored: (flags & FLAGS.stored) !== 0,
    mayBeSplit: (flags & FLAGS.whole) === 0,
    typeSize: words.getUint8(3),
    size: words.getUint32(4, true),
    blockSize: words.getUint32(8, true),
    encodedSize: words.getUint32(12, true),
  };
  check(header, source.length);
  return header;
}

function check(header: BloscHeader, available: number): void {
  const { blockSize, encodedSize, isStored, size, typeSize } = header;
  if (typeSize === 0) throw corrupt("the blosc item size is 0");
  if (encodedSize > available || encodedSize < HEADER_SIZE) {
    throw corrupt("the blosc header states a different size", { expected: encodedSize, found: available });
  }
  if (isStored) {
    if (encodedSize === HEADER_SIZE + size) return;
    throw corrupt("the length of a stored blosc value does not match its data", {
      expected: HEADER_SIZE + size,
      found: encodedSize,
    });
  }
  if (size === 0) return;
  if (blockSize === 0 || blockSize > size) {
    throw corrupt("the blosc block size is 0 or larger than the data", { found: blockSize });
  }
  const startsEnd = HEADER_SIZE + 4 * blockCount(header);
  if (startsEnd > encodedSize) {
    throw corrupt("the list of blosc block starts is truncated", { expected: startsEnd, found: encodedSize });
  }
}

export function writeFrameHeader(target: Uint8Array, header: BloscHeader): void {
  const words = wordView(target);
  const { inner, isStored, mayBeSplit, shuffle } = header;
  const shuffleFlag = { noshuffle: 0, shuffle: FLAGS.shuffled, bitshuffle: FLAGS.bitShuffled }[shuffle];
  const flags = shuffleFlag | (isStored ? FLAGS.stored : 0) | (mayBeSplit ? 0 : FLAGS.whole);
  words.setUint8(0, FORMAT_VERSION);
  words.setUint8(1, CODEC_VERSION);
  words.setUint8(2, flags | (INNER_CODES[inner] << 5));
  words.setUint8(3, header.typeSize);
  words.setUint32(4, header.size, true);
  words.setUint32(8, header.blockSize, true);
  words.setUint32(12, header.encodedSize, true);
}

export function blockCount({ size, blockSize }: BloscHeader): number {
  return Math.ceil(size / blockSize);
}

/** Number of streams in a block of `length` bytes; a shorter last block is never split. */
export function streamCount({ blockSize, mayBeSplit, typeSize }: BloscHeader, length: number): number {
  return mayBeSplit && length === blockSize && canSplit(typeSize, blockSize) ? typeSize : 1;
}

/** True if blocks of this size split into streams of useful length. */
export function canSplit(typeSize: number, blockSize: number): boolean {
  return typeSize <= MAX_STREAMS && Math.floor(blockSize / typeSize) >= MIN_STREAM;
}
