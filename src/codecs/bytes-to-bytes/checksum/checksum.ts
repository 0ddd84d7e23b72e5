import type { BytesToBytesCodec } from "../../codec.ts";
import { corrupt, overrun } from "../../failures.ts";
import { wordsOf } from "../../kernels/words.ts";

const SIZE = 4;

/** A codec that puts a 32-bit checksum, little-endian, before or after the bytes, and holds them against it. */
export function checksumCodec(
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
      wordsOf(target).setUint32(location === "start" ? 0 : source.length, checksum(source), true);
      return source.length + SIZE;
    },
    decodeInto(source, target) {
      const size = source.length - SIZE;
      if (size < 0)
        throw corrupt("the bytes are fewer than a checksum has", { expected: SIZE, found: source.length });
      if (size > target.length) throw overrun(target.length);
      const payload = source.subarray(payloadStart, payloadStart + size);
      const stored = wordsOf(source).getUint32(location === "start" ? 0 : size, true);
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
