import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../../src/codecs/chain/codec-chain.ts";
import { decodeBytes, encodeBytes } from "../../../src/codecs/standalone.ts";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import { errorOf, specOf, text, utf8, variableCodec } from "../support.ts";

const labels = ["female", "male", "other?"];

describe("strings", () => {
  const codec = (configuration: object, items: number) =>
    variableCodec("categorize", { labels, dtype: "|O", ...configuration }, "string", [items]);

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

  test("labels are a list of texts, which many items take no more of than a chunk may have", async () => {
    for (const wrong of ["male", [1]]) await errorOf(() => codec({ labels: wrong }, 1), "invalid-metadata");
    const { decode } = await codec({ labels: ["x".repeat(2 ** 20)] }, 2 ** 12);
    await errorOf(() => decode(new Uint8Array(2 ** 12).fill(1)), "resource-limit");
  });
});

describe("texts of fixed size", () => {
  const fixed = (items: readonly string[], characters: number, bigEndian = false) => {
    const letters = items.flatMap((item) => [...item.padEnd(characters, "\0")]);
    const bytes = Buffer.from(Uint32Array.from(letters, (letter) => letter.codePointAt(0) ?? 0).buffer);
    return new Uint8Array(bigEndian ? bytes.swap32() : bytes);
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
    for (const dataType of [{ kind: "fixed-text", size: 24 } as const, { kind: "int", size: 4 } as const])
      await errorOf(() => createPipeline(configs, specOf([2], dataType)), "invalid-metadata");
  });
});
