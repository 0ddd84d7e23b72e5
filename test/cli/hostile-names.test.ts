// @module-tag slow
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { runHere } from "../support/cli-here.ts";
import { writeV2Metadata } from "../support/v2-store.ts";

/** What acts on terminals, or on the direction of writing: colors, titles, lines, C1 and bidi controls. */
const HOSTILE = "a\u001b[31m\u009b2J\u0085\u202e\u2066\u2028z";
const ACTIVE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const folder = temporaryFolder();

beforeAll(async () => {
  const group = join(folder.path, "g.zarr");
  mkdirSync(group);
  writeFileSync(join(group, ".zgroup"), '{"zarr_format": 2}');
  writeFileSync(join(group, ".zattrs"), JSON.stringify({ [HOSTILE]: HOSTILE }));
  const array = join(group, HOSTILE);
  await writeV2Metadata(array, { shape: [2], chunks: [2], dtype: "<i4", dimensions: [HOSTILE] });
  const attributes = JSON.parse(readFileSync(join(array, ".zattrs"), "utf8"));
  writeFileSync(join(array, ".zattrs"), JSON.stringify({ ...attributes, [HOSTILE]: HOSTILE, n: [HOSTILE] }));
  writeFileSync(join(array, "0"), new Int32Array([1, 2]));
  writeFileSync(join(array, HOSTILE), "stray");
  const strange = join(group, "strange");
  await writeV2Metadata(strange, { shape: [2], chunks: [2], dtype: "<i4", dimensions: ["x"] });
  const document = JSON.parse(readFileSync(join(strange, ".zarray"), "utf8"));
  const compressor = { id: HOSTILE, [HOSTILE]: HOSTILE };
  writeFileSync(join(strange, ".zarray"), JSON.stringify({ ...document, compressor }));
  writeFileSync(join(strange, "0"), "x");
});

/** What a command says that would act on a terminal, but for the ends of its lines. */
async function actsOf(...args: readonly string[]): Promise<string[]> {
  const { stdout, stderr } = await runHere(folder.path, ...args);
  expect(stdout + stderr).not.toBe("");
  return (stdout + stderr).match(ACTIVE)?.filter((character) => character !== "\n") ?? [];
}

describe("names, attributes and settings of others do nothing to a terminal", () => {
  const lines = [
    ["info", "g.zarr"],
    ["info", "g.zarr", "--json"],
    ["tree", "g.zarr"],
    ["tree", "g.zarr", "--json"],
    ["validate", "g.zarr", "--deep"],
    ["validate", "g.zarr", "--json"],
    ["diff", "g.zarr", `g.zarr/${HOSTILE}`],
    ["diff", "g.zarr", "none.zarr", "--json"],
    ["digest", `g.zarr/${HOSTILE}`],
    ["digest", "g.zarr/strange"],
    ["digest", "g.zarr/strange", "--json"],
    ["copy", "g.zarr", `${HOSTILE}.zarr`, "--dry-run"],
    ["copy", "g.zarr", `${HOSTILE}.zarr`, "--dry-run", "--json"],
    ["copy", "g.zarr", `${HOSTILE}-1.zarr`],
    ["copy", "g.zarr", `${HOSTILE}-2.zarr`, "--json"],
    ["copy", `none-${HOSTILE}.zarr`, "x.zarr"],
    ["copy", `none-${HOSTILE}.zarr`, "x.zarr", "--json"],
    ["rechunk", "g.zarr", "y.zarr", "--chunks", `${HOSTILE}=1`],
    ["rechunk", `g.zarr/${HOSTILE}`, "y.zarr", "--chunks", "1", "--dry-run"],
    ["slice", `g.zarr/${HOSTILE}`, "--slice", "0", "--dry-run"],
    ["slice", `g.zarr/${HOSTILE}`, "--output", `${HOSTILE}.npy`, "--format", "npy"],
    [HOSTILE],
    ["copy", `--${HOSTILE}`],
  ];
  it.each(lines.map((args) => [JSON.stringify(args.join(" ")), args] as const))(
    "%s",
    async (_, args) => {
      expect(await actsOf(...args)).toEqual([]);
    },
    120_000,
  );

  it("nor do they in a report, which a browser shows", async () => {
    await runHere(folder.path, "copy", "g.zarr", `${HOSTILE}-3.zarr`, "--report", "report.html");
    const page = readFileSync(join(folder.path, "report.html"), "utf8");
    expect(page.match(ACTIVE)?.filter((character) => character !== "\n") ?? []).toEqual([]);
  }, 120_000);

  it("and JSON holds the same values", async () => {
    const { stdout } = await runHere(folder.path, "info", `g.zarr/${HOSTILE}`, "--json");
    expect(JSON.parse(stdout)).toMatchObject([{ dimensionNames: [HOSTILE], attributes: { n: [HOSTILE] } }]);
  }, 120_000);
});
