// @module-tag slow
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { validate } from "../../src/index.ts";
import { testFolder } from "../support/cli.ts";
import { ramp, type V2Array, writeV2Group } from "../support/v2-store.ts";
import { hasPython, runPython } from "./python.ts";

const items = ramp(24);
const array: V2Array = { shape: [4, 6], chunks: [4, 6], dtype: "<f4", items };

describe.runIf(hasPython)("validate --fix", () => {
  it("writes what zarr-python reads: fill values, separators, consolidated metadata", async () => {
    const folder = join(await testFolder(), "g.zarr");
    await writeV2Group(folder, { nan: array, unstated: array });
    const document = join(folder, "nan/.zarray");
    await writeFile(
      document,
      (await readFile(document, "utf8")).replace('"fill_value": null', '"fill_value": NaN'),
    );
    await mkdir(join(folder, "unstated/0"));
    await rename(join(folder, "unstated/0.0"), join(folder, "unstated/0/0"));
    const group = JSON.parse(await readFile(join(folder, ".zgroup"), "utf8"));
    const consolidated = { metadata: { ".zgroup": group }, zarr_consolidated_format: 1 };
    await writeFile(join(folder, ".zmetadata"), JSON.stringify(consolidated));
    const sha256 = createHash("sha256").update(items).digest("hex");
    const unread = { arrays: { unstated: [expect.any(String), expect.not.stringContaining(sha256)] } };
    expect(await runPython("fixed_group.py", folder)).toMatchObject({ ...unread, consolidated: {} });
    for await (const { level } of validate(folder, { fix: true })) expect(level).toBe("info");
    const found = await runPython("fixed_group.py", folder);
    expect(found).toMatchObject({
      arrays: { nan: ["nan", sha256], unstated: [expect.any(String), sha256] },
      consolidated: { nan: "nan", unstated: expect.any(String) },
    });
    expect(await readFile(join(folder, "nan/.zarray"), "utf8")).toContain('"fill_value": "NaN"');
  });
});
