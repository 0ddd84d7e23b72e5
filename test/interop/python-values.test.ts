import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type ArrayChanges, copy } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { hasPython, runPython } from "./python.ts";
import { hasShared, shared } from "./shared.ts";

const FORMATS = ["v2", "v3"] as const;
const NUMBERS = ["packed", "marked", "range", "floats", "doubles", "plain", "counts"];
const folder = temporaryFolder();

/** How arrays are converted, and how value_cases.py does it by xarray. */
interface Conversion {
  readonly arrays: ArrayChanges;
  readonly how: "unpack" | "pack" | "cast";
  readonly dtype?: string;
  readonly names?: readonly string[];
}

const packed = (dtype: "int16" | "uint8"): Conversion => ({
  arrays: { "*": { pack: dtype } },
  how: "pack",
  dtype,
});
const cast = (dtype: "float32" | "float64"): Conversion => ({
  arrays: Object.fromEntries(NUMBERS.map((name) => [name, { dataType: dtype }])),
  ...{ how: "cast", dtype, names: NUMBERS },
});

const OF_CONVENTIONS: Readonly<Record<string, Conversion>> = {
  unpacked: { arrays: { "*": { unpack: true } }, how: "unpack" },
  "unpacked into floats of 32 bits": {
    arrays: { "*": { unpack: true, dataType: "float32" } },
    ...{ how: "unpack", dtype: "float32" },
  },
  "packed into int16": packed("int16"),
  "packed into uint8": packed("uint8"),
  "cast to float32": cast("float32"),
  "cast to float64": cast("float64"),
};

const WINDS = `${shared}data/era-interim-uvz.v3.zarr`;
const TEMPERATURES = `${shared}data/era5-uk-t2m.zarr`;
const OF_REAL_DATA: readonly (readonly [what: string, source: string, conversion: Conversion])[] = [
  ["winds unpacked", WINDS, { arrays: { "[uv]": { unpack: true } }, how: "unpack", names: ["u", "v"] }],
  ["temperatures packed", TEMPERATURES, { arrays: { t2m: { pack: "int16" } }, how: "pack", dtype: "int16" }],
  [
    "temperatures cast",
    TEMPERATURES,
    { arrays: { t2m: { dataType: "float64" } }, how: "cast", dtype: "float64" },
  ],
];

describe.runIf(hasPython)("values that were converted, read by xarray", () => {
  const cases = [
    ...FORMATS.flatMap((format) =>
      Object.entries(OF_CONVENTIONS).map(
        ([what, conversion]) =>
          [`${what}, from ${format}`, () => join(folder.path, `cf.${format}.zarr`), conversion] as const,
      ),
    ),
    ...(hasShared ? OF_REAL_DATA : []).map(
      ([what, source, conversion]) => [what, () => source, conversion] as const,
    ),
  ].flatMap(([what, source, conversion]) =>
    FORMATS.map((to) => ({ title: `${what}, in ${to}`, source, to, conversion })),
  );
  let differences: readonly unknown[] = [];

  beforeAll(async () => {
    await runPython("value_cases.py", "make", folder.path);
    const jobs: object[] = [];
    for (const { title, source, to, conversion } of cases) {
      const { arrays, ...job } = conversion;
      const target = join(folder.path, `${title}.zarr`);
      await copy(source(), target, { arrays, to, verify: "values" });
      jobs.push({ source: source(), target, ...job });
    }
    const file = join(folder.path, "jobs.json");
    writeFileSync(file, JSON.stringify(jobs));
    differences = (await runPython("value_cases.py", "compare", file)) as unknown[];
  }, 300_000);

  test.each(cases.map(({ title }, i) => [title, i] as const))("%s: are what xarray computes", (_, i) => {
    expect(differences[i]).toEqual([]);
  });
});
