// @module-tag slow
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { writeV2Array, writeV2Group } from "../support/v2-store.ts";

const small = { shape: [4, 6], chunks: [2, 3], dimensions: ["y", "x"] };

describe("what the command says of wrong arguments", () => {
  it.each(["v1", "zarr1"])("names no format that a pyramid cannot have in place of %s", async (to) => {
    const { stderr } = await runHere(await testFolder(), "pyramid", "a.zarr", "b.zarr", "--to", to);
    expect(stderr).toContain(`zarrflow: invalid value for --to: ${to} (expected v2, v3)\n`);
    expect(stderr).not.toContain("Did you mean");
  });

  it.each([
    ["rechnk", "Did you mean `rechunk`?"],
    ["", "The commands are info, tree, view, copy"],
    ["--quiet", "Write the command first"],
    ["info a.zarr --jsno", "Did you mean `--json`?"],
    ["info", "the command takes URL"],
    ["info a.zarr b.zarr", "unexpected operand `b.zarr`"],
    ["copy a.zarr b.zarr --if-exists replcae", "Did you mean `replace`?"],
    ["digest a.zarr --io many", "`many` in --io is not a whole number"],
    ["digest a.zarr --max-mem much", '"much" is not a size in bytes'],
    ["rechunk a.zarr b.zarr", "rechunk needs --chunks"],
    ["rechunk a.zarr b.zarr --chunks z=2", "no dimension is named `z`"],
    ["rechunk a.zarr b.zarr --chunks 4,6 --codec zstdd", "Did you mean `zstd`?"],
    ["rechunk a.zarr b.zarr --chunks 4,6 --max-mem 50B", "at least"],
    ["rechunk a.zarr a.zarr/b --chunks 4,6", "is inside its source"],
    ["slice a.zarr --slice 9,9", "outside dimension"],
    ["slice a.zarr --slice yy=0", "Did you mean `y`?"],
    ["slice a.zarr b.zarr --format npy", "omit DST"],
    ["slice a.zarr --to v3", "Give a DST"],
    ["convert a.zarr b.zarr", "convert needs --to"],
    ["convert a.zarr b.zarr --to v4", "(expected v1, v2, v3-draft-2019, v3)"],
    ["pyramid a.zarr b.zarr --to zarr2", "Did you mean `v2`?"],
    ["slice a.zarr --slice y=2:2", "The range is empty, since the stop is exclusive. Write 2 for one item."],
    ["validate a.zarr --dep", "Did you mean `--deep`?"],
    ["diff a.zarr", "the command takes A B"],
    ["diff a.zarr a.zarr --max-mem 9B", "at least"],
    ["completion bsh", "Did you mean `bash`?"],
    ["copy a.zarr b.zarr --report .", "is not a regular file"],
    ["help digset", "Did you mean `digest`?"],
  ])("exit code 2 for `zarrflow %s`", async (line, says) => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a.zarr"), small);
    const { code, stdout, stderr } = await runHere(cwd, ...line.split(" ").filter((word) => word !== ""));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^zarrflow: /);
    expect(stderr).toContain(says);
  });

  it.each([
    ["g.zarr/tt", "Did you mean `t`?"],
    ["g.zarr/no-such/deeper", "Its members are t."],
    ["gg.zarr", "Did you mean `g.zarr`?"],
    ["g.zar.zip", "Did you mean `g.zarr.zip`?"],
    ["g.zarr.zip/tt", "Did you mean `t`?"],
  ])("exit code 3 for %s, with the name that is nearest", async (url, says) => {
    const cwd = await testFolder();
    await writeV2Group(join(cwd, "g.zarr"), { t: small });
    await runHere(cwd, "copy", "g.zarr", "g.zarr.zip", "--quiet");
    const { code, stderr } = await runHere(cwd, "info", url);
    expect(code).toBe(3);
    expect(stderr).toContain(says);
  });
});
