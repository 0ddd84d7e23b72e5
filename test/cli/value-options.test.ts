import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { valuesOf } from "../../src/cli/value-options.ts";
import { openArray, slice } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { runHere } from "../support/cli-here.ts";
import { given } from "../support/given.ts";

describe("what the flags mean", () => {
  test.each([
    [{ dtype: ["float32"] }, { "*": { dataType: "float32" } }],
    [{ dtype: ["a/b:float32", "t*:int16"] }, { "a/b": { dataType: "float32" }, "t*": { dataType: "int16" } }],
    [{ dtype: ["t:datetime64[s]"] }, { t: { dataType: "datetime64[s]" } }],
    [{ unpack: ["*", "t"] }, { "*": { unpack: true }, t: { unpack: true } }],
    [{ pack: ["t:int16"] }, { t: { pack: "int16" } }],
    [{ pack: ["int16,0.5"] }, { "*": { pack: { dataType: "int16", scale: 0.5, offset: 0 } } }],
    [{ pack: ["t:uint8,0.5,-3"] }, { t: { pack: { dataType: "uint8", scale: 0.5, offset: -3 } } }],
    [{ "fill-value": ["-9999", "t:NaN"] }, { "*": { fillValue: -9999 }, t: { fillValue: "NaN" } }],
    [{ "fill-value": ["true"] }, { "*": { fillValue: true } }],
    [{ "fill-value": ["18446744073709551615"] }, { "*": { fillValue: 2n ** 64n - 1n } }],
    [{ map: ["./c.mjs"] }, { "*": { map: "./c.mjs" } }],
    [{ map: ["t:./c.mjs"] }, { t: { map: "./c.mjs" } }],
    [{ map: ["https://a.example/c.mjs"] }, { "*": { map: "https://a.example/c.mjs" } }],
    [{ map: ["t:file:///c.mjs"] }, { t: { map: "file:///c.mjs" } }],
    [{ map: ["C:\\c.mjs", "t:C:\\c.mjs"] }, { "*": { map: "C:\\c.mjs" }, t: { map: "C:\\c.mjs" } }],
    [
      { dtype: ["t:int8"], "fill-value": ["t:3"], overflow: "clamp" },
      { t: { dataType: "int8", fillValue: 3, overflow: "clamp" } },
    ],
  ])("%j", (flags, arrays) => {
    expect(valuesOf(flags as Parameters<typeof valuesOf>[0])).toEqual({ arrays });
  });
  test("nothing where there are none", () => {
    expect(valuesOf({} as Parameters<typeof valuesOf>[0])).toEqual({});
  });
});

describe("commands", () => {
  const folder = temporaryFolder();
  const run = (...args: string[]) => runHere(folder.path, ...args);
  beforeAll(async () => {
    const t = {
      dataType: "int16",
      values: [1, 2, 3, -1],
      chunks: [2],
      dimensionNames: ["x"],
      attributes: { scale_factor: 0.5, _FillValue: -1 },
    } as const;
    await given({ at: join(folder.path, "s.zarr"), arrays: { t }, consolidated: true });
    writeFileSync(join(folder.path, "m.mjs"), "export default ({ data }) => data.map((one) => 10 * one);");
  });
  const read = async (store: string) => [...(await slice(join(folder.path, store, "t")).read()).data];

  test("copy, rechunk, convert and slice change values", async () => {
    const flags = ["--unpack", "--fill-value=-5", "--verify=values", "--quiet"];
    expect(await run("copy", "s.zarr", "copy.zarr", ...flags)).toMatchObject({ code: 0 });
    expect(await run("rechunk", "s.zarr", "rechunk.zarr", "--chunks", "x=4", ...flags)).toMatchObject({
      code: 0,
    });
    expect(await run("convert", "s.zarr", "convert.zarr", "--to", "v2", ...flags)).toMatchObject({ code: 0 });
    expect(await run("slice", "s.zarr", "slice.zarr", "--slice", "x=0:4", ...flags)).toMatchObject({
      code: 0,
    });
    for (const store of ["copy.zarr", "rechunk.zarr", "convert.zarr", "slice.zarr"])
      expect(await read(store)).toEqual([0.5, 1, 1.5, -5]);
    expect((await openArray(join(folder.path, "convert.zarr/t"))).attributes).not.toHaveProperty(
      "scale_factor",
    );
  });

  test("a dry run says what becomes of the values", async () => {
    const { stdout } = await run(
      "copy",
      "s.zarr",
      "d.zarr",
      "--map",
      "m.mjs",
      "--dtype",
      "int8",
      "--dry-run",
    );
    expect(stdout).toMatch(/values .*int16 -> int8, .*m\.mjs/);
  });

  test.each([
    [["--dtype", "u:int8"], /`arrays` names `u`/],
    [["--pack", "int16,x"], /not a type with scale and offset/],
    [["--overflow", "clamp"], /no effect without --dtype/],
    [["--map", "none.mjs"], /cannot be loaded/],
  ])("%j is refused", async (flags, expected) => {
    const { code, stderr } = await run("copy", "s.zarr", "refused.zarr", ...flags);
    expect(stderr).toMatch(expected);
    expect(code).toBe(2);
  });
});
