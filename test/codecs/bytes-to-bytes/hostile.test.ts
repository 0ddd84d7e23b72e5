import { describe, expect, test } from "vitest";
import { codecStep } from "../../../src/codecs/codec-step.ts";
import { isZarrflowError } from "../../../src/util/errors.ts";
import type { JsonObject } from "../../../src/util/json-value.ts";
import { expectSame, GuardedBuffers, placedCodec, randomNumbers } from "../support.ts";

const CODECS: readonly (readonly [string, JsonObject])[] = [
  ...["lz4", "blosclz", "snappy", "zlib", "zstd"].flatMap((cname): [string, JsonObject][] =>
    ["shuffle", "bitshuffle"].map((shuffle) => ["blosc", { cname, clevel: 5, shuffle, blocksize: 256 }]),
  ),
  ["zstd", { level: 3 }],
  ["zstd", { level: 3, checksum: true }],
  ["lz4", {}],
  ["gzip", { level: 6 }],
  ["zlib", { level: 6 }],
  ["packbits", {}],
  ["crc32c", {}],
  ["crc32", {}],
  ["adler32", {}],
  ["fletcher32", {}],
  ["delta", { dtype: "<i4" }],
];
const CODES = ["corrupt-chunk", "codec-error", "resource-limit"];
/** What a change cannot hide from. */
const CHECKED = /gzip|zlib \{|crc32|adler32|fletcher32|checksum/;

describe.each(
  CODECS.map(
    ([name, configuration]) => [`${name} ${JSON.stringify(configuration)}`, name, configuration] as const,
  ),
)("%s", (title, name, configuration) => {
  const random = randomNumbers(title.length);
  const flags = name === "packbits";
  const bytes = Uint8Array.from({ length: 900 }, (_, i) =>
    flags ? random(2) : i % 90 < 45 ? random(256) : Math.floor(i / 4) % 5,
  );

  const decode = async (change: (encoded: Uint8Array, buffers: GuardedBuffers) => Uint8Array) => {
    const buffers = new GuardedBuffers();
    const placed = await placedCodec(name, configuration, bytes.length, 4);
    const encoded = (await codecStep(placed, "encode", buffers)(buffers.copyOf(bytes))) as Uint8Array;
    const changed = change(encoded, buffers);
    try {
      const decoded = (await codecStep(placed, "decode", buffers)(changed)) as Uint8Array;
      const copy = decoded.slice();
      buffers.give(decoded);
      return copy;
    } catch (error) {
      if (!isZarrflowError(error)) throw error;
      expect(CODES).toContain(error.code);
      expect(error.details.codec).toBe(name);
      return undefined;
    } finally {
      expect(buffers.live).toBe(0);
    }
  };

  test("no cut value decodes", async () => {
    const whole = await decode((encoded) => encoded);
    expectSame(whole, bytes);
    let length = 0;
    for (let isCut = true; isCut; length++) {
      const found = await decode((encoded, buffers) => {
        isCut = length < encoded.length;
        const cut = buffers.copyOf(encoded.subarray(0, length));
        buffers.give(encoded);
        return cut;
      });
      if (isCut) expect(found, `cut at ${length}`).toBeUndefined();
    }
    expect(length).toBeGreaterThan(10);
  });

  test("a changed value is refused or decodes to a whole chunk, and nothing else is touched", async () => {
    let differing = 0;
    for (let round = 0; round < 400; round++) {
      const found = await decode((encoded) => {
        // Headers are changed more often than data.
        const at = round % 2 === 0 ? random(Math.min(40, encoded.length)) : random(encoded.length);
        for (let change = 0; change <= random(3); change++) {
          encoded[(at + change) % encoded.length] = round % 3 === 0 ? random(4) * 85 : random(256);
        }
        return encoded;
      });
      if (found === undefined) continue;
      expect(found.length).toBe(bytes.length);
      if (Buffer.compare(found, bytes) !== 0) differing++;
    }
    if (CHECKED.test(title)) expect(differing).toBe(0);
  });
});
