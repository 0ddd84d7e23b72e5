// @module-tag alone
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, vi } from "vitest";
import { readSlabs } from "../../../../src/flows/slabs/read-slabs.ts";
import { create } from "../../../../src/hierarchy/create/create.ts";
import { openArray } from "../../../../src/hierarchy/open/open.ts";
import { wholeSelection } from "../../../../src/streams/selection.ts";
import { temporaryFolder } from "../../../stores/temporary-folder.ts";
import { rejection } from "../../../streams/support.ts";
import { started } from "./one-worker-only.ts";

vi.mock("node:worker_threads", async (importOriginal) =>
  (await import("./one-worker-only.ts")).oneWorkerOnly(importOriginal),
);

const folder = temporaryFolder();

it("threads end where one more cannot be started", async () => {
  const path = join(folder.path, "a.zarr");
  await (await create(path, { shape: [301, 60, 50], dataType: "float64", chunks: [2, 60, 50] })).close();
  const array = await openArray(path);
  const worker = { script: pathToFileURL(join(path, "zarr.json")), threads: 3 };
  const slabs = readSlabs(array, wholeSelection(array.shape), { maxMemory: 16e6, concurrency: 2, worker });
  expect(await rejection(slabs.next())).toMatchObject({ message: "no more threads" });
  expect(started).toEqual({ threads: 2, told: [{ type: "stop", atOnce: true }, "terminate"] });
});
