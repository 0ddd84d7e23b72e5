// @module-tag slow
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import { copy } from "../../src/flows/copy.ts";
import { digest } from "../../src/flows/digest.ts";
import { info } from "../../src/flows/info.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { slice } from "../../src/flows/slice.ts";
import { tree } from "../../src/flows/tree.ts";
import { open, openArray } from "../../src/hierarchy/open/open.ts";
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
  const t = { shape: [8, 6], chunks: [2, 6] };
  await writeV2Group(join(folder, "a.zarr"), { t });
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

async function first(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items) break;
}

const uses: Record<string, () => Promise<unknown>> = {
  copy: () => copy(zip, join(folder, "b.zarr")),
  "copy to a zip that is read back": () => copy(zip, join(folder, "b.zarr.zip"), { verify: true }),
  "a copy that fails": () => copy(zip, join(folder, "a.zarr")).catch(() => {}),
  "a plan that is impossible": () => planFlow(zip, join(folder, "b"), { maxMemory: 1 }).catch(() => {}),
  "a plan that is closed": async () => (await planFlow(zip, join(folder, "b"))).close(),
  digest: () => drain(digest(zip)),
  info: () => drain(info(zip)),
  tree: () => drain(tree(zip)),
  "slice().read()": () => slice(`${zip}/t`, [0]).read(),
  "slice().shape()": () => slice(`${zip}/t`, [0]).shape(),
  "slice() of nothing there": () =>
    slice(`${zip}/t`, [99])
      .read()
      .catch(() => {}),
  "slice().chunks()": () => drain(slice(`${zip}/t`).chunks()),
  "slice().chunks() left early": () => first(slice(`${zip}/t`).chunks()),
  "slice().bytes() left early": () => first(slice(`${zip}/t`).bytes()),
  "open() of nothing": () => open(`${zip}/nothing`).catch(() => {}),
  "openArray() of a group": () => openArray(zip).catch(() => {}),
};

it.each(Object.keys(uses))("%s leaves no file open", async (name) => {
  await uses[name]?.();
  await rm(join(folder, "b.zarr"), { recursive: true, force: true });
  expect(FileReader.open).toHaveBeenCalled();
  expect(opened).toBe(0);
});
