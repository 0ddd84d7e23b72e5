import { expect, test } from "vitest";
import { decodeBytes, encodeBytes } from "../../../../src/codecs/standalone/decode-bytes.ts";
import { errorOf } from "../../support.ts";

const bytes = new TextEncoder().encode("Four score and seven years ago");

test("the checksum stands behind the bytes, little-endian", async () => {
  const encoded = await encodeBytes({ id: "jenkins_lookup3" }, bytes);
  expect([...encoded.subarray(-4)]).toEqual([0x51, 0x05, 0x77, 0x17]);
  expect(await decodeBytes({ id: "jenkins_lookup3" }, encoded)).toEqual(bytes);
});

test("initval and prefix go in, and are not stored", async () => {
  const plain = await encodeBytes({ id: "jenkins_lookup3", initval: 1 }, bytes);
  expect([...plain.subarray(-4)]).toEqual([0x61, 0x81, 0x62, 0xcd]);
  const config = {
    name: "numcodecs.jenkins_lookup3",
    configuration: { initval: 1, prefix: [...bytes.subarray(0, 5)] },
  };
  const rest = await encodeBytes(config, bytes.subarray(5));
  expect(rest).toEqual(plain.subarray(5));
  expect(await decodeBytes(config, rest)).toEqual(bytes.subarray(5));
});

test("a changed byte, a changed checksum and too few bytes are corrupt", async () => {
  const encoded = await encodeBytes({ id: "jenkins_lookup3" }, bytes);
  for (const at of [0, encoded.length - 1]) {
    const changed = encoded.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    await errorOf(() => decodeBytes({ id: "jenkins_lookup3" }, changed), "corrupt-chunk");
  }
  await errorOf(() => decodeBytes({ id: "jenkins_lookup3" }, new Uint8Array(3)), "corrupt-chunk");
});

test.each([[{ initval: -1 }], [{ initval: 2 ** 32 }], [{ prefix: "abc" }], [{ prefix: [256] }]])(
  "%j is no configuration",
  async (options) => {
    await errorOf(() => encodeBytes({ id: "jenkins_lookup3", ...options }, bytes), "invalid-metadata");
  },
);
