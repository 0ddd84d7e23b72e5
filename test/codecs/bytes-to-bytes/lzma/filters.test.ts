import { expect, test } from "vitest";
import { filterChain, presetChain } from "../../../../src/codecs/bytes-to-bytes/lzma/filters.ts";
import type { JsonObject, JsonValue } from "../../../../src/util/json-value.ts";
import { errorOf } from "../../support.ts";
import { decode, lzma } from "./support.ts";
import { LZMA1 } from "./vectors.ts";

test("a chain as Python states it", () => {
  const chain = filterChain([
    { id: 3, dist: 4 },
    { id: 33, preset: 1 },
  ]);
  expect(chain).toEqual({
    deltas: [4],
    compressor: { kind: "lzma2", lc: 3, lp: 0, pb: 2, preset: 1, dictionarySize: 2 ** 20 },
  });
  const lzma1 = filterChain([{ id: LZMA1, lc: 1, lp: 2, pb: 3, dict_size: 65_536 }]);
  expect(lzma1.compressor).toEqual({ kind: "lzma1", lc: 1, lp: 2, pb: 3, preset: 6, dictionarySize: 65_536 });
  // As JSON.parse has rounded it.
  expect(filterChain([{ id: 2 ** 62 }]).compressor.kind).toBe("lzma1");
});

test("presets, extreme ones too", () => {
  expect(presetChain("lzma2", undefined).compressor.preset).toBe(6);
  expect(presetChain("lzma2", 2 ** 31 + 9).compressor).toMatchObject({ preset: 9, dictionarySize: 2 ** 26 });
});

test("what is no chain is refused", async () => {
  const chains: JsonValue[] = [
    [],
    {},
    "lzma",
    [{ id: 3 }],
    [{ id: 33 }, { id: 33 }],
    [{ id: 33 }, { id: 3 }],
    [{ id: 3 }, { id: 3 }, { id: 3 }, { id: 3 }, { id: 33 }],
    [{}],
    [null],
    [33],
    [{ id: "33" }],
    [{ id: 3, dist: 0 }, { id: 33 }],
    [{ id: 3, dist: 257 }, { id: 33 }],
    [{ id: 33, preset: 10 }],
    [{ id: 33, lc: 3, lp: 2 }],
    [{ id: 33, pb: 5 }],
    [{ id: 33, dict_size: 100 }],
  ];
  for (const chain of chains) await errorOf(() => filterChain(chain), "invalid-metadata");
  const machine = await errorOf(() => filterChain([{ id: 4 }, { id: 33 }]), "unsupported-codec");
  expect(machine.message).toMatch(/x86/);
});

test("configurations that are refused", async () => {
  const configurations: JsonObject[] = [
    { format: 4 },
    { format: -1 },
    { format: "xz" },
    { format: 3 },
    { format: 3, preset: 1 },
  ];
  for (const configuration of configurations) await errorOf(() => lzma(configuration), "invalid-metadata");
  expect(
    decode(Uint8Array.of(0), 0, { format: 3, filters: [{ id: 33 }], preset: null, check: null }),
  ).toHaveLength(0);
});
