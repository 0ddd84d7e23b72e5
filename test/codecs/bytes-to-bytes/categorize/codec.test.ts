import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../../../src/codecs/chain/pipeline.ts";
import { decodeBytes, encodeBytes } from "../../../../src/codecs/standalone/decode-bytes.ts";
import type { CodecConfig } from "../../../../src/meta/array-metadata.ts";
import { text, utf8, variableCodec } from "../../array-to-bytes/variable-codec.ts";
import { errorOf, specOf } from "../../support.ts";

const labels = ["female", "male", "other?"];

describe("strings", () => {
  const codec = (configuration: object, items: number) =>
    variableCodec("categorize", { labels, dtype: "|O", ...configuration }, { kind: "string" }, [items]);

  test("are the numbers of their labels; others are 0 and read as none", async () => {
    const { encode, decode } = await codec({}, 4);
    const encoded = await encode(["male", "female", "nobody", ""].map(utf8));
    expect([...encoded]).toEqual([2, 1, 0, 0]);
    expect((await decode(encoded)).map(text)).toEqual(["male", "female", "", ""]);
  });

  test.each(["<u2", ">u2", "<i8", "<f4", "|i1"])("as %s", (astype) =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...labels, ""), { maxLength: 20 }), async (items) => {
        const { encode, decode } = await codec({ astype }, items.length);
        expect((await decode(await encode(items.map(utf8)))).map(text)).toEqual(items);
      }),
      { numRuns: 20 },
    ),
  );

  test("numbers beyond the labels read as none, other counts are corrupt", async () => {
    const { decode } = await codec({}, 2);
    expect((await decode(Uint8Array.of(4, 255))).map(text)).toEqual(["", ""]);
    await errorOf(() => decode(Uint8Array.of(1)), "corrupt-chunk");
    await errorOf(() => decode(Uint8Array.of(1, 1, 1)), "corrupt-chunk");
  });

  test("of two labels alike the last counts, and more than the numbers can count are refused", async () => {
    const { encode } = await codec({ labels: ["a", "b", "a"] }, 1);
    expect([...(await encode([utf8("a")]))]).toEqual([3]);
    const many = await codec({ labels: Array.from({ length: 300 }, (_, i) => `l${i}`) }, 1);
    expect([...(await many.encode([utf8("l254")]))]).toEqual([255]);
    await errorOf(() => many.encode([utf8("l255")]), "codec-error");
  });

  test("long labels for many items stay within what a chunk may have", async () => {
    const { decode } = await codec({ labels: ["x".repeat(2 ** 20)] }, 2 ** 12);
    await errorOf(() => decode(new Uint8Array(2 ** 12).fill(1)), "resource-limit");
  });

  test("labels must be a list of texts", async () => {
    await errorOf(() => codec({ labels: "male" }, 1), "invalid-metadata");
    await errorOf(() => codec({ labels: [1] }, 1), "invalid-metadata");
  });
});

describe("texts of fixed size", () => {
  const fixed = (items: readonly string[], characters: number, bigEndian = false) => {
    const bytes = new Uint8Array(items.length * characters * 4);
    const words = new DataView(bytes.buffer);
    items.forEach((item, i) => {
      [...item].forEach((character, k) => {
        words.setUint32((i * characters + k) * 4, character.codePointAt(0) ?? 0, !bigEndian);
      });
    });
    return bytes;
  };

  test.each(["<U6", ">U6"])("%s", async (dtype) => {
    const config = { id: "categorize", labels, dtype, astype: "<u2" };
    const items = fixed(["male", "other?", "nobody"], 6, dtype === ">U6");
    const encoded = await encodeBytes(config, items, { itemSize: 24 });
    expect([...encoded]).toEqual([2, 0, 3, 0, 0, 0]);
    expect(await decodeBytes(config, encoded)).toEqual(fixed(["male", "other?", ""], 6, dtype === ">U6"));
  });

  test("labels are cut to their size when read, and none of them when written", async () => {
    const config = { id: "categorize", labels, dtype: "<U4" };
    expect(await decodeBytes(config, Uint8Array.of(1, 2))).toEqual(fixed(["fema", "male"], 4));
    expect([...(await encodeBytes(config, fixed(["fema", "male"], 4), { itemSize: 16 }))]).toEqual([0, 2]);
  });

  test("what is cut, larger than promised, or of another type is refused", async () => {
    const config = { id: "categorize", labels, dtype: "<U4", astype: "<u2" };
    await errorOf(() => decodeBytes(config, new Uint8Array(3)), "corrupt-chunk");
    await errorOf(() => decodeBytes(config, new Uint8Array(4), { size: 16 }), "corrupt-chunk");
    const configs: CodecConfig[] = [
      { name: "bytes", configuration: { endian: "little" } },
      { name: "categorize", configuration: { labels, dtype: "<U4" } },
    ];
    await errorOf(
      () => createPipeline(configs, specOf([2], { kind: "fixed-text", size: 24 })),
      "invalid-metadata",
    );
    await errorOf(() => createPipeline(configs, specOf([2], { kind: "int", size: 4 })), "invalid-metadata");
  });
});
