import { expect, test } from "vitest";
import { loadCodecs } from "../../../src/codecs/chain/codec-chain.ts";
import { codecStep } from "../../../src/codecs/chain/codec-step.ts";
import { errorOf, GuardedBuffers, placedCodec, RAW, specOf } from "../support.ts";

// That steps in order are the pipeline is held in pipeline.test.ts.

test("a step refuses the other form of a chunk, and gives it back", async () => {
  const chain = await loadCodecs(
    [
      { name: "transpose", configuration: { order: [0] } },
      { name: "bytes", configuration: {} },
      { name: "zlib", configuration: {} },
    ],
    specOf([4], RAW(1)),
  );
  const buffers = new GuardedBuffers();
  const bytes = () => buffers.take(4);
  const data = () => ({ kind: "fixed", bytes: bytes(), itemSize: 1, shape: [4], strides: [1] }) as const;
  const [transpose, toBytes, zlib] = chain;
  if (!transpose || !toBytes || !zlib) throw new Error("codecs are missing");
  await errorOf(() => codecStep(transpose, "decode", buffers)(bytes()), "codec-error");
  await errorOf(() => codecStep(toBytes, "encode", buffers)(bytes()), "codec-error");
  await errorOf(() => codecStep(toBytes, "decode", buffers)(data()), "codec-error");
  await errorOf(() => codecStep(zlib, "decode", buffers)(data()), "codec-error");
  expect(buffers.live).toBe(0);
});

test("takes what it is given: one buffer in, one buffer out", async () => {
  const buffers = new GuardedBuffers();
  const placed = await placedCodec("zlib", { level: 1 }, 100);
  const encoded = await codecStep(placed, "encode", buffers)(buffers.take(100));
  expect(buffers.live).toBe(1);
  await codecStep(placed, "decode", buffers)(encoded);
  expect(buffers.live).toBe(1);
});

test("what a codec answers late may be anything that can be waited for", async () => {
  const buffers = new GuardedBuffers();
  const { codec: _, ...sizes } = await placedCodec("zlib", { level: 1 }, 100);
  const late = (_: unknown, fail: (error: Error) => void) => fail(new Error("no such items"));
  // biome-ignore lint/suspicious/noThenProperty: no promise of this realm's, but waited for as one
  const codec = { kind: "array-to-bytes", name: "late", decode: () => ({ then: late }) } as never;
  const error = await errorOf(
    () => codecStep({ ...sizes, codec }, "decode", buffers)(buffers.take(4)),
    "codec-error",
  );
  expect(error.cause).toMatchObject({ message: "no such items" });
  expect(buffers.live).toBe(0);
});

test("without a pool, buffers are new ones", async () => {
  const placed = await placedCodec("lz4", {}, 3);
  const encoded = await codecStep(placed, "encode")(Uint8Array.of(1, 2, 3));
  expect(await codecStep(placed, "decode")(encoded)).toEqual(Uint8Array.of(1, 2, 3));
});
