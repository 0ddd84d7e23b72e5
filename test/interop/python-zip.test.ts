import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FileSink } from "../../src/stores/files/file-sink.ts";
import { ZipWriter } from "../../src/stores/zip.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { hasPython, runPython } from "./python.ts";

const folder = temporaryFolder();

describe.runIf(hasPython)("a zip that we wrote, read by Python's zipfile", () => {
  test.each([
    ["stored", {}],
    ["deflated", { deflate: 3 }],
  ])("with values %s", async (name, options) => {
    const path = join(folder.path, `${name}.zip`);
    const writer = new ZipWriter(await FileSink.create(path), "zip test.zip", options);
    await writer.set("t2m/.zarray", Buffer.from("{}"));
    const value = await writer.openWriter("t2m/é");
    await value.write(new Uint8Array(100_000).map((_, i) => (i * i) >> 3));
    await value.commit();
    await writer.finish();
    const expected = { names: ["t2m/.zarray", "t2m/é"], damaged: null };
    expect(await runPython("list_zip.py", path)).toEqual(expected);
  });
});
