import { join } from "node:path";
import { expect, it } from "vitest";
import { testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { writeV2Group } from "../../support/v2-store.ts";

/** Mistakes of people who want a table or a file of values, and what they are told. */
const MISTAKES: readonly (readonly [mistake: string, line: string])[] = [
  ["an ending that is not written", "toy.zarr/t2m --output t2m.xlsx"],
  ["a table of a group without a choice of arrays", "toy.zarr --format csv"],
  ["a choice that no array meets", "toy.zarr --format csv --include temperature"],
  ["arrays of different dimensions in a table", "toy.zarr --format csv --include t2m --include station"],
  ["names of flags that an array lacks", "toy.zarr/t2m --format csv --flags"],
  ["decoded text as a NumPy file", "toy.zarr/station --format npy --decode"],
  ["decoded dates of another calendar as raw bytes", "toy.zarr/time --decode"],
  ["decoding for a DST", "toy.zarr part.zarr --slice x=0:1 --decode"],
];

it("mistakes have answers that show the way out", async () => {
  const cwd = await testFolder();
  const time = { attributes: { units: "days since 2000-01-01", calendar: "noleap" }, dimensions: ["time"] };
  await writeV2Group(join(cwd, "toy.zarr"), {
    t2m: { shape: [2, 3], dimensions: ["time", "x"] },
    time: { shape: [2], chunks: [2], dtype: "<i4", items: Int32Array.of(1, 2), ...time },
    station: { shape: [4], chunks: [4], dtype: "|O", items: ["a", "b", "c", "d"], dimensions: ["place"] },
  });
  const answers = [];
  for (const [mistake, line] of MISTAKES) {
    const { code, stdout, stderr } = await runHere(cwd, "slice", ...line.split(" "));
    expect(stdout, line).toBe("");
    answers.push(`# ${mistake}\n$ zarrflow slice ${line}\n${stderr.trimEnd()}\n[${code}]\n`);
  }
  await expect(answers.join("\n")).toMatchFileSnapshot("./__snapshots__/slice-mistakes.txt");
});

it("a year of a coordinate whose units are not supported is answered with that reason", async () => {
  const cwd = await testFolder();
  const months = { attributes: { units: "months since 2000-01-01" }, dimensions: ["time"] };
  await writeV2Group(join(cwd, "toy.zarr"), {
    time: { shape: [2], chunks: [2], dtype: "<i4", items: Int32Array.of(1, 2), ...months },
  });
  for (const source of ["toy.zarr/time", "toy.zarr"]) {
    for (const label of ["2001", "2001-02"]) {
      const { stderr } = await runHere(cwd, "slice", source, "part.zarr", "--slice", `time=${label}`);
      expect(stderr).toContain("the unit months of the calendar standard is not supported");
    }
  }
  const first = await runHere(cwd, "slice", "toy.zarr/time", "first.zarr", "--slice", "time=1");
  expect(first.code).toBe(0);
});
