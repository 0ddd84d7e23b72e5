import { EventEmitter } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, vi } from "vitest";
import { readSlabs } from "../../../src/flows/read-slabs.ts";
import { create } from "../../../src/hierarchy/create.ts";
import { openArray } from "../../../src/hierarchy/open.ts";
import { wholeSelection } from "../../../src/streams/selection.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { rejection } from "../../streams/support.ts";

const started = vi.hoisted(() => ({ threads: 0, told: [] as unknown[] }));

vi.mock("node:worker_threads", async (importOriginal) => ({
  ...(await importOriginal<typeof import("node:worker_threads")>()),
  /** Of two threads the second one cannot be started. */
  Worker: class extends EventEmitter {
    constructor() {
      super();
      if (++started.threads === 2) throw new Error("no more threads");
    }
    unref() {
      started.told.push("unref");
    }
    postMessage(message: unknown) {
      started.told.push(message);
    }
  },
}));

const folder = temporaryFolder();

it("threads end where one more cannot be started", async () => {
  const path = join(folder.path, "a.zarr");
  await (await create(path, { shape: [301, 60, 50], dataType: "float64", chunks: [2, 60, 50] })).close();
  const array = await openArray(path);
  const worker = { script: pathToFileURL(join(path, "zarr.json")), threads: 3 };
  const slabs = readSlabs(array, wholeSelection(array.shape), { maxMemory: 16e6, io: 2, worker });
  expect(await rejection(slabs.next())).toMatchObject({ message: "no more threads" });
  expect(started).toEqual({ threads: 2, told: ["unref", { type: "stop" }] });
});
