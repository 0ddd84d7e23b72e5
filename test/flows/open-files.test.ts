// @module-tag slow
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { copy, digest, info, open, openArray, slice, tree } from "../../src/index.ts";
import { FileReader } from "../../src/stores/files/file-reader.ts";
import { testFolder } from "../support/cli.ts";
import { drain } from "../support/consume.ts";
import { writeV2Group } from "../support/v2-store.ts";

let folder: string;
let zip: string;
let opened = 0;
const openFile = FileReader.open;

beforeEach(async () => {
  folder = await testFolder();
  zip = join(folder, "a.zarr.zip");
  await writeV2Group(join(folder, "a.zarr"), { t: { shape: [8, 6], chunks: [2, 6] } });
  await copy(join(folder, "a.zarr"), zip);
  opened = 0;
  vi.spyOn(FileReader, "open").mockImplementation(async (path, files) => {
    opened++;
    const reader = await openFile(path, files);
    const close = reader.close.bind(reader);
    reader.close = () => {
      opened--;
      return close();
    };
    return reader;
  });
  return () => vi.restoreAllMocks();
});

const ignored = (promise: Promise<unknown>) => promise.catch(() => {});
async function first(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items) break;
}

const uses: Record<string, () => Promise<unknown>> = {
  copy: () => copy(zip, join(folder, "b.zarr")),
  "copy to a zip that is read back": () => copy(zip, join(folder, "b.zarr.zip"), { verify: true }),
  "a copy that fails": () => ignored(copy(zip, join(folder, "a.zarr"))),
  "a plan that is impossible": () => ignored(planFlow(zip, join(folder, "b"), { maxMemory: 1 })),
  "a plan that is closed": async () => (await planFlow(zip, join(folder, "b"))).close(),
  digest: () => drain(digest(zip)),
  info: () => drain(info(zip)),
  tree: () => drain(tree(zip)),
  "slice().read()": () => slice(`${zip}/t`, [0]).read(),
  "slice().shape()": () => slice(`${zip}/t`, [0]).shape(),
  "slice() of nothing there": () => ignored(slice(`${zip}/t`, [99]).read()),
  "slice().chunks()": () => drain(slice(`${zip}/t`).chunks()),
  "slice().chunks() left early": () => first(slice(`${zip}/t`).chunks()),
  "slice().bytes() left early": () => first(slice(`${zip}/t`).bytes()),
  "open() of nothing": () => ignored(open(`${zip}/nothing`)),
  "openArray() of a group": () => ignored(openArray(zip)),
};

it.each(Object.entries(uses))("%s leaves no file open", async (_, use) => {
  await use();
  expect(FileReader.open).toHaveBeenCalled();
  expect(opened).toBe(0);
});
