import { expect, test } from "vitest";
import { foreignSizeBound, MAX_CHUNK_SIZE, maxStoredSize } from "../../src/codecs/limits.ts";

test("chunks of fixed items may be some larger than ours, of varying ones as large as any", () => {
  const spec = (kind: "string" | "bool") => ({
    shape: [4],
    dataType: kind === "string" ? ({ kind } as const) : ({ kind, size: 1 } as const),
    fillValue: null,
  });
  const maxEncodedSize = 1000;
  expect(maxStoredSize({ spec: spec("bool"), maxEncodedSize })).toBe(foreignSizeBound(1000));
  expect(maxStoredSize({ spec: spec("bool"), maxEncodedSize: 2 ** 31 })).toBe(MAX_CHUNK_SIZE);
  expect(maxStoredSize({ spec: spec("string"), maxEncodedSize })).toBe(MAX_CHUNK_SIZE);
});
