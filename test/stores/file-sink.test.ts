import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FileSink } from "../../src/stores/file-sink.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();

it("is not found where its folder is not there, and refuses a file that is", async () => {
  await expect(FileSink.create(join(folder.path, "no/file"))).rejects.toMatchObject({ code: "not-found" });
  await writeFile(join(folder.path, "file"), "");
  await expect(FileSink.create(join(folder.path, "file"))).rejects.toMatchObject({
    code: "path-not-allowed",
  });
});
