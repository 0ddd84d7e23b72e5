import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { slice } from "../../../src/flows/slice.ts";
import { create } from "../../../src/hierarchy/create/create.ts";
import { blockingFileCalls } from "../../../src/stores/files/file-calls.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { rejection } from "../../streams/support.ts";

const folder = temporaryFolder();
afterEach(() => vi.restoreAllMocks());

const values = Int32Array.from({ length: 40 * 30 * 20 }, (_, i) => i * 7919);
let places = 0;

async function written(): Promise<string> {
  const path = join(folder.path, `${places++}.zarr`);
  const target = await create(path, {
    shape: [40, 30, 20],
    dataType: "int32",
    chunks: [1, 15, 20],
    fillValue: 3,
  });
  await target.write([], values);
  await target.close();
  return path;
}

async function digestOf(path: string, options = {}): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of slice(path, {}, options).bytes()) hash.update(bytes);
  return hash.digest("hex");
}

const expected = createHash("sha256").update(values).digest("hex");

describe("slabs of files", () => {
  it("are read by calls that block", async () => {
    const path = await written();
    const open = vi.spyOn(blockingFileCalls, "open");
    vi.spyOn(performance, "now").mockReturnValue(0);
    expect(await digestOf(path)).toBe(expected);
    expect(open).toHaveBeenCalledTimes(80);
  });

  it("are asked for several at one time when calls that block take long", async () => {
    const path = await written();
    const open = vi.spyOn(blockingFileCalls, "open");
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => {
      now += 60;
      return now;
    });
    expect(await digestOf(path)).toBe(expected);
    expect(open.mock.calls.length).toBeGreaterThan(3);
    expect(open.mock.calls.length).toBeLessThan(20);
  });

  it("are read by calls that block again when these answer at once", async () => {
    const path = await written();
    const { open } = blockingFileCalls;
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => {
      now += 0.9;
      return now;
    });
    const opened = vi.spyOn(blockingFileCalls, "open").mockImplementationOnce((...file) => {
      now += 60;
      return open(...file);
    });
    expect(await digestOf(path)).toBe(expected);
    expect(opened.mock.calls.length).toBeGreaterThan(10);
    expect(opened.mock.calls.length).toBeLessThan(70);
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
