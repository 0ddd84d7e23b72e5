// @module-tag slow
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, testFolder } from "../../support/cli.ts";
import { ramp, writeV2Array, writeV2Group } from "../../support/v2-store.ts";

const items = ramp(35);
const sha256 = createHash("sha256").update(items).digest("hex");
const array = { shape: [5, 7], chunks: [2, 3], dtype: "<f4", items };

describe("zarrflow digest", () => {
  it("prints digest and path, of an array the path that was asked for", async () => {
    const cwd = await testFolder();
    await writeV2Group(join(cwd, "g.zarr"), { a: array, b: { ...array, chunks: [5, 1] } });
    const whole = await runCli(cwd, "digest", "g.zarr");
    expect(whole).toMatchObject({ code: 0, stdout: `${sha256}  a\n${sha256}  b\n`, stderr: "" });
    expect((await runCli(cwd, "digest", "g.zarr/b")).stdout).toBe(`${sha256}  g.zarr/b\n`);
  });

  it("gives a list with type and shape as JSON", async () => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a.zarr"), array);
    const { stdout } = await runCli(cwd, "digest", "a.zarr", "--json");
    expect(JSON.parse(stdout)).toEqual([{ path: "", dataType: "float32", shape: [5, 7], sha256 }]);
  });

  it("prints the missing value below the digest, so that arrays of equal bytes differ", async () => {
    const cwd = await testFolder();
    const variable = { ...array, dimensions: ["y", "x"] };
    await writeV2Group(join(cwd, "a.zarr"), { t: { ...variable, fillValue: -999 } });
    await writeV2Group(join(cwd, "b.zarr"), { t: { ...variable, fillValue: "NaN" } });
    await writeV2Group(join(cwd, "c.zarr"), { t: variable });
    const lines = await Promise.all(
      ["a.zarr", "b.zarr", "c.zarr"].map(async (url) => (await runCli(cwd, "digest", url)).stdout),
    );
    expect(lines).toEqual([
      `${sha256}  t\nmissing value -999\n`,
      `${sha256}  t\nmissing value "NaN"\n`,
      `${sha256}  t\n`,
    ]);
    const { code, stdout } = await runCli(cwd, "diff", "a.zarr", "b.zarr");
    expect({ code, stdout }).toEqual({
      code: 6,
      stdout: expect.stringContaining("t: fill value: -999 -> "),
    });
  });
});
