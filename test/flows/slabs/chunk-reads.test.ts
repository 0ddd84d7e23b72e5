import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { slice } from "../../../src/flows/slice.ts";
import type { ZarrArray } from "../../../src/hierarchy/node.ts";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { rejection } from "../../streams/support.ts";
import { given } from "../../support/given.ts";

const folder = temporaryFolder();
afterEach(() => vi.restoreAllMocks());

const values = Int32Array.from({ length: 40 * 30 * 20 }, (_, i) => i * 7919);
let places = 0;

function written(): Promise<string> {
  const array = { shape: [40, 30, 20], dataType: "int32", chunks: [1, 15, 20], fillValue: 3, values };
  return given({ at: join(folder.path, `${places++}.zarr`), ...array });
}

async function digestOf(source: string | ZarrArray, options = {}): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of slice(source, {}, options).bytes()) hash.update(bytes);
  return hash.digest("hex");
}

/** An array of 80 chunks, and the calls of its store that block. */
async function watched() {
  const store = new DirectoryStore(await written());
  const array = await openArray(store);
  return { array, store, getSync: vi.spyOn(store as Required<DirectoryStore>, "getSync") };
}

const expected = createHash("sha256").update(values).digest("hex");

describe("slabs of files", () => {
  it("are read by calls that block", async () => {
    const { array, getSync } = await watched();
    vi.spyOn(performance, "now").mockReturnValue(0);
    expect(await digestOf(array)).toBe(expected);
    expect(getSync.mock.calls.filter(([key]) => key.startsWith("c/"))).toHaveLength(80);
  });

  it("are asked for several at one time when calls that block take long", async () => {
    const { array, getSync } = await watched();
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => {
      now += 60;
      return now;
    });
    expect(await digestOf(array)).toBe(expected);
    expect(getSync.mock.calls.length).toBeGreaterThan(3);
    expect(getSync.mock.calls.length).toBeLessThan(20);
  });

  it("are read by calls that block again when these answer at once", async () => {
    const { array, store, getSync } = await watched();
    const read = store.getSync?.bind(store);
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => {
      now += 0.9;
      return now;
    });
    getSync.mockImplementationOnce((...value) => {
      now += 60;
      return read?.(...value);
    });
    expect(await digestOf(array)).toBe(expected);
    expect(getSync.mock.calls.length).toBeGreaterThan(10);
    expect(getSync.mock.calls.length).toBeLessThan(70);
  });

  it("lack what is missing", async () => {
    const path = await written();
    await rm(join(path, "c/7"), { recursive: true });
    const lacking = values.slice().fill(3, 7 * 600, 8 * 600);
    expect(await digestOf(path)).toBe(createHash("sha256").update(lacking).digest("hex"));
  });

  it("are not read once who wants them has given up", async () => {
    const path = await written();
    const stop = new AbortController();
    const slabs = slice(path, {}, { signal: stop.signal, maxMemory: 60_000 }).slabs();
    expect((await slabs.next()).done).toBe(false);
    stop.abort(new Error("enough"));
    expect(await rejection(slabs.next().then(() => slabs.next()))).toMatchObject({
      code: "aborted",
      cause: new Error("enough"),
    });
  });
});
