import { ZarrflowError } from "../../util/errors.ts";
import type { BytesToBytesCodec, CodecFactory } from "../codec.ts";
import { ConfigReader, encoderSetting } from "../config-reader.ts";
import { corrupt, overrun } from "../limits.ts";
import { decodeBlockRange, decodeBlocks, encodeBlosc } from "./blocks.ts";
import {
  type BloscHeader,
  canSplit,
  HEADER_SIZE,
  INNER_CODES,
  type InnerName,
  MIN_STREAM,
  readHeader,
  type Shuffle,
} from "./frame.ts";
import { type InnerCodec, innerCodec } from "./inner-codecs.ts";

const MAX_SIZE = 2 ** 31 - 1 - HEADER_SIZE;
const MAX_TYPE_SIZE = 255;
const SHUFFLES = ["auto", "noshuffle", "shuffle", "bitshuffle"] as const;
/** Codecs for long input. */
const HIGH_RATIO = ["lz4hc", "zlib", "zstd"];

/**
 * `blosc`: blocks of shuffled items, each encoded by an inner codec. The configuration applies to writing only; a value
 * describes itself.
 */
export const createBlosc: CodecFactory = (configuration, { itemSize }) => {
  const settings = new ConfigReader(configuration);
  const stated = encoderSetting<BloscSettings>(() => bloscSettings(settings, itemSize), STAND_INS);
  const { cname, level, wantedBlockSize, typeSize, shuffle } = stated.value;

  return {
    kind: "bytes-to-bytes",
    name: "blosc",
    maxEncodedSize: (decodedSize) => decodedSize + HEADER_SIZE,
    // A block before and after the shuffle, and the copies of the inner codec.
    scratchSize: (decodedSize) => 4 * Math.min(decodedSize, Math.max(wantedBlockSize, 1024 * 1024)),
    statedDecodedSize: (source) => readHeader(source).size,
    assertEncodable() {
      stated.check();
      innerName(cname);
    },
    encodeInto(source, target) {
      const name = innerName(cname);
      const header = newHeader(source.length, name);
      const effort = cname === "lz4hc" && level > 0 ? 9 : level;
      const encode = (inner: InnerCodec) => encodeBlosc(source, header, inner, target, effort);
      const inner = innerCodec(name);
      return inner instanceof Promise ? inner.then(encode) : encode(inner);
    },
    decodeInto(source, target) {
      const header = readHeader(source);
      const { isStored, size } = header;
      if (size > target.length) throw overrun(target.length);
      if (isStored) {
        target.set(source.subarray(HEADER_SIZE, HEADER_SIZE + size));
        return size;
      }
      const decode = (inner: InnerCodec) => {
        decodeBlocks(source, header, inner, target);
        return size;
      };
      const inner = innerCodec(header.inner);
      return inner instanceof Promise ? inner.then(decode) : decode(inner);
    },
    decodeRangeInto(source, offset, target) {
      const header = readHeader(source);
      const end = offset + target.length;
      if (end > header.size) {
        throw corrupt("the decoded data ends before the range", { expected: end, found: header.size });
      }
      if (header.isStored) {
        target.set(source.subarray(HEADER_SIZE + offset, HEADER_SIZE + end));
        return;
      }
      const decode = (inner: InnerCodec) => decodeBlockRange(source, header, inner, offset, target);
      const inner = innerCodec(header.inner);
      return inner instanceof Promise ? inner.then(decode) : decode(inner);
    },
  } satisfies BytesToBytesCodec;

  function newHeader(size: number, inner: InnerName): BloscHeader {
    if (size > MAX_SIZE) {
      throw new ZarrflowError("resource-limit", "blosc supports at most 2 GiB per chunk", {
        expected: MAX_SIZE,
        found: size,
      });
    }
    const highRatio = HIGH_RATIO.includes(cname);
    const blockSize = chooseBlockSize(size, typeSize, level, inner, highRatio, wantedBlockSize);
    const mayBeSplit = splitsBlocks(inner, typeSize, blockSize);
    return { inner, shuffle, isStored: false, mayBeSplit, typeSize, size, blockSize, encodedSize: 0 };
  }
};

/** Settings for encoding. */
interface BloscSettings {
  readonly cname: string;
  readonly level: number;
  readonly wantedBlockSize: number;
  readonly typeSize: number;
  readonly shuffle: Shuffle;
}

const STAND_INS: BloscSettings = {
  cname: "lz4",
  level: 5,
  wantedBlockSize: 0,
  typeSize: 1,
  shuffle: "noshuffle",
};

function bloscSettings(settings: ConfigReader, itemSize: number): BloscSettings {
  const typeSize = settings.integer("typesize", 1, 2 ** 31 - 1, itemSize);
  const usedTypeSize = typeSize > MAX_TYPE_SIZE ? 1 : typeSize;
  return {
    cname: settings.text("cname", "lz4"),
    level: settings.integer("clevel", 0, 9, 5),
    wantedBlockSize: settings.integer("blocksize", 0, MAX_SIZE, 0),
    typeSize: usedTypeSize,
    shuffle: shuffleSetting(settings, usedTypeSize),
  };
}

/** `auto` is bit shuffle for one-byte items, otherwise byte shuffle. */
function shuffleSetting(settings: ConfigReader, typeSize: number): Shuffle {
  const shuffle = settings.word("shuffle", SHUFFLES, "shuffle");
  if (shuffle !== "auto") return shuffle;
  return typeSize === 1 ? "bitshuffle" : "shuffle";
}

function innerName(cname: string): InnerName {
  if (cname === "lz4hc") return "lz4";
  if (Object.hasOwn(INNER_CODES, cname)) return cname as InnerName;
  throw new ZarrflowError("unsupported-codec", `blosc has no inner codec \`${cname}\``, {
    value: cname,
    hint: `The inner codecs are ${Object.keys(INNER_CODES).join(", ")} and lz4hc.`,
  });
}

const KIB = 1024;
const MIN_SPLIT_BLOCK = 64 * KIB;
const MAX_SPLIT_STREAM = 256 * KIB;
const MAX_SPLIT_BLOCK = 1024 * KIB;
const MAX_BLOCK = 2 ** 31 - 1 - 64 * KIB;

/** Block size by level, as a multiple of 32 KiB. */
const FACTORS = [1 / 4, 1 / 2, 1, 2, 4, 4, 8, 8, 8, 8] as const;

/** True if new values with this inner codec split their blocks: all codecs except zstd do if the block can be split. */
export function splitsBlocks(inner: InnerName, typeSize: number, blockSize: number): boolean {
  return inner !== "zstd" && canSplit(typeSize, blockSize);
}

/**
 * Chooses the block size for `size` bytes of items of `typeSize` as c-blosc does, so that values compress equally well.
 * `highRatio` marks codecs for long input: lz4hc, zlib and zstd.
 *
 * @param wanted the size set by the user; 0 derives it from the level.
 */
export function chooseBlockSize(
  size: number,
  typeSize: number,
  level: number,
  inner: InnerName,
  highRatio: boolean,
  wanted: number,
): number {
  if (size < typeSize) return 1;
  let blockSize = size;
  if (wanted > 0) blockSize = Math.min(Math.max(wanted, MIN_STREAM), MAX_BLOCK);
  else if (size >= 32 * KIB) {
    blockSize = 32 * KIB * (FACTORS[level] ?? 1) * (highRatio ? 2 : 1);
    if (level === 9 && highRatio) blockSize *= 2;
  }
  if (level > 0 && splitsBlocks(inner, typeSize, blockSize)) {
    const split = Math.min(blockSize, MAX_SPLIT_STREAM) * typeSize;
    blockSize = Math.min(Math.max(split, MIN_SPLIT_BLOCK), MAX_SPLIT_BLOCK);
  }
  blockSize = Math.min(blockSize, size);
  return blockSize > typeSize ? blockSize - (blockSize % typeSize) : blockSize;
}
