import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ArrayChanges, copy } from "../../src/index.ts";
import { hasPython, runPython } from "./python.ts";
import { hasShared, shared } from "./shared.ts";

interface Job {
  readonly source: string;
  readonly target: string;
  readonly how: "unpack" | "pack" | "cast";
  readonly dtype?: string;
  readonly names?: readonly string[];
}

describe.runIf(hasPython)("values that were converted, read by xarray", () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "zarrflow-values-"));
    await runPython("value_cases.py", "make", folder);
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  const FORMATS = ["v2", "v3"] as const;

  /** What differs from what xarray computes, in both formats. */
  async function differences(
    name: string,
    source: string,
    arrays: ArrayChanges,
    job: Pick<Job, "how" | "dtype" | "names">,
  ): Promise<unknown> {
    const jobs: Job[] = [];
    for (const to of FORMATS) {
      const target = join(folder, `${name}.to-${to}.zarr`);
      await copy(source, target, { arrays, to, verify: "values" });
      jobs.push({ source, target, ...job });
    }
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(jobs));
    return runPython("value_cases.py", "compare", file);
  }

  describe.each(FORMATS)("of conventions, written in %s", (format) => {
    const source = () => join(folder, `cf.${format}.zarr`);

    test("unpacked", async () => {
      const found = await differences(
        `unpack-${format}`,
        source(),
        { "*": { unpack: true } },
        { how: "unpack" },
      );
      expect(found).toEqual([[], []]);
    });
    test("unpacked into floats of 32 bits", async () => {
      const changes = { "*": { unpack: true, dataType: "float32" } } as const;
      const found = await differences(`unpack32-${format}`, source(), changes, {
        how: "unpack",
        dtype: "float32",
      });
      expect(found).toEqual([[], []]);
    });
    test.each(["int16", "uint8"] as const)("packed into %s", async (type) => {
      const found = await differences(
        `pack-${type}-${format}`,
        source(),
        { "*": { pack: type } },
        { how: "pack", dtype: type },
      );
      expect(found).toEqual([[], []]);
    });
    test.each(["float32", "float64"] as const)("cast to %s", async (type) => {
      const names = ["packed", "marked", "range", "floats", "doubles", "plain", "counts"];
      const changes = Object.fromEntries(names.map((name) => [name, { dataType: type }]));
      const found = await differences(`cast-${type}-${format}`, source(), changes, {
        how: "cast",
        dtype: type,
        names,
      });
      expect(found).toEqual([[], []]);
    });
  });

  describe.runIf(hasShared)("of real data", () => {
    const winds = `${shared}data/era-interim-uvz.v3.zarr`;
    const temperatures = `${shared}data/era5-uk-t2m.zarr`;

    test("winds unpacked, and cast", async () => {
      const names = ["u", "v"];
      expect(
        await differences("winds", winds, { "[uv]": { unpack: true } }, { how: "unpack", names }),
      ).toEqual([[], []]);
    });
    test("temperatures packed into int16, and cast to float64", async () => {
      const packed = { t2m: { pack: "int16" } } as const;
      expect(await differences("t2m", temperatures, packed, { how: "pack", dtype: "int16" })).toEqual([
        [],
        [],
      ]);
      const cast = { t2m: { dataType: "float64" } } as const;
      expect(await differences("t2m-cast", temperatures, cast, { how: "cast", dtype: "float64" })).toEqual([
        [],
        [],
      ]);
    });
  });
});
