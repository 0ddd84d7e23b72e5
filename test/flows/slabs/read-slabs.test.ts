import { join } from "node:path";
import { expect, it } from "vitest";
import { openKernelHeap } from "../../../src/codecs/kernels/kernels.ts";
import { readSlabs } from "../../../src/flows/slabs/read-slabs.ts";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import { wholeSelection } from "../../../src/streams/selection.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { given } from "../../support/given.ts";

const folder = temporaryFolder();

it("gives back what it took of a heap that others have open, too", async () => {
  const large = { shape: [40, 512, 1024], chunks: [1, 512, 1024], dataType: "uint8", values: () => 7 };
  const path = await given({ at: join(folder.path, "large.zarr"), ...large });
  const array = await openArray(path);
  const open = openKernelHeap();
  const firstPlace = () => {
    const buffer = open?.heap.allocate(1);
    if (buffer) open?.heap.release(buffer);
    return buffer?.byteOffset;
  };
  const before = firstPlace();
  const slabs = readSlabs(array, wholeSelection(array.shape), { maxMemory: 8e6, concurrency: 2, threads: 1 });
  const { value } = await slabs.next();
  expect(value?.data.bytes.buffer === open?.heap.memory).toBe(true);
  for await (const _ of slabs);
  expect(firstPlace()).toBe(before);
  open?.close();
});
