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
});
