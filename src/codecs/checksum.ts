import { crc32 } from "../util/crc32.ts";
import { ZarrflowError } from "../util/errors.ts";
import { JsonNumber } from "../util/json-value.ts";
import type { BytesToBytesCodec, CodecFactory } from "./codec.ts";
import { ConfigReader } from "./config-reader.ts";
import { adler32 } from "./kernels/adler32.ts";
import { fletcher32, lookup3 } from "./kernels/checksums.ts";
import { kernels } from "./kernels/kernels.ts";
import { wordView } from "./kernels/swap-bytes.ts";
import { corrupt, overrun } from "./limits.ts";

const SIZE = 4;

/** `adler32`: adds the Adler-32 of the bytes, at the start unless `location` says otherwise. */
export const createAdler32: CodecFactory = (configuration) => {
  const location = new ConfigReader(configuration).word("location", ["start", "end"], "start");
  return checksumCodec("adler32", location, adler32);
};

/** `crc32`: adds the CRC-32 of the bytes, as in zlib, at the start unless `location` says otherwise. */
export const createCrc32: CodecFactory = (configuration) => {
  const location = new ConfigReader(configuration).word("location", ["start", "end"], "start");
  return checksumCodec("crc32", location, crc32);
};

/** `crc32c`: adds the CRC-32C (Castagnoli) of the bytes, at the end unless `location` says otherwise. */
export const createCrc32c: CodecFactory = (configuration) => {
  const location = new ConfigReader(configuration).word("location", ["start", "end"], "end");
  return checksumCodec("crc32c", location, (bytes) => kernels().crc32c(bytes));
};

/** `fletcher32`: adds the Fletcher-32 of the bytes, as in HDF5, at the end. */
export const createFletcher32: CodecFactory = () => checksumCodec("fletcher32", "end", fletcher32);

/**
 * `jenkins_lookup3` of numcodecs: adds the checksum of HDF5's metadata at the end. It starts from `initval`; the bytes
 * of `prefix` are included in the checksum, but not stored.
 */
export const createJenkinsLookup3: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const initial = settings.integer("initval", 0, 2 ** 32 - 1, 0);
  const prefix = prefixOf(settings);
  const codec = checksumCodec("jenkins_lookup3", "end", (bytes) => {
    if (prefix.length === 0) return lookup3(bytes, initial);
    const all = new Uint8Array(prefix.length + bytes.length);
    all.set(prefix);
    all.set(bytes, prefix.length);
    return lookup3(all, initial);
  });
  if (prefix.length === 0) return codec;
  return { ...codec, scratchSize: (decodedSize) => prefix.length + decodedSize };
};

function prefixOf(settings: ConfigReader): Uint8Array {
  const prefix = settings.value("prefix") ?? [];
  const bytes = Array.isArray(prefix)
    ? prefix.map((byte) => (byte instanceof JsonNumber ? Number(byte.text) : byte))
    : [undefined];
  if (bytes.every((byte) => typeof byte === "number" && Number.isInteger(byte) && byte >= 0 && byte < 256)) {
    return Uint8Array.from(bytes as number[]);
  }
  throw new ZarrflowError("invalid-metadata", "`prefix` must be a list of bytes", {
    value: JSON.stringify(prefix),
  });
}

/** Creates a codec that stores a 32-bit checksum, little-endian, before or after the bytes and verifies it. */
function checksumCodec(
  name: string,
  location: "start" | "end",
  checksum: (bytes: Uint8Array) => number,
): BytesToBytesCodec {
  const payloadStart = location === "start" ? SIZE : 0;
  return {
    kind: "bytes-to-bytes",
    name,
    maxEncodedSize: (decodedSize) => decodedSize + SIZE,
    fixedEncodedSize: (decodedSize) => decodedSize + SIZE,
    statedDecodedSize: (source) => Math.max(0, source.length - SIZE),
    encodeInto(source, target) {
      target.set(source, payloadStart);
      wordView(target).setUint32(location === "start" ? 0 : source.length, checksum(source), true);
      return source.length + SIZE;
    },
    decodeInto(source, target) {
      const size = source.length - SIZE;
      if (size < 0)
        throw corrupt("the chunk is shorter than a checksum", { expected: SIZE, found: source.length });
      if (size > target.length) throw overrun(target.length);
      const payload = source.subarray(payloadStart, payloadStart + size);
      const stored = wordView(source).getUint32(location === "start" ? 0 : size, true);
      const computed = checksum(payload);
      if (computed !== stored) {
        throw corrupt("the checksum differs", { expected: inHex(stored), found: inHex(computed) });
      }
      target.set(payload);
      return size;
    },
  };
}

function inHex(checksum: number): string {
  return `0x${checksum.toString(16).padStart(8, "0")}`;
}
