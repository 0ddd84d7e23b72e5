import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { copy, type FlowEvent, open } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { contentsOf, valuesIn } from "../../support/consume.ts";
import { givenKeys } from "../../support/given.ts";
import { makeHierarchy } from "../../support/made-hierarchy.ts";

let folder: string;
let source: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "zarrflow-plain-"));
  source = join(folder, "source");
  const store = new DirectoryStore(source);
  for (const [name, zarrFormat] of [
    ["a.zarr", "v2"],
    ["deep/b.zarr", "v3"],
  ] as const) {
    const values = await valuesIn(await makeHierarchy(zarrFormat), name);
    await givenKeys(Object.fromEntries(values), store);
  }
  await store.set("notes.txt", new TextEncoder().encode("hello"));
  await store.set("empty", new Uint8Array());
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a folder that is no node", () => {
  test("is copied with every key, there and back, and said to be none", async () => {
    const events: FlowEvent[] = [];
    const report = await copy(source, join(folder, "x.zip"), {
      onEvent: (event) => events.push(event),
      verify: true,
    });
    expect(events).toContainEqual({
      type: "warning",
      message: expect.stringMatching(/not a Zarr hierarchy/),
    });
    await copy(join(folder, "x.zip"), join(folder, "back"));
    const content = await contentsOf(new DirectoryStore(source));
    expect(await contentsOf(new DirectoryStore(join(folder, "back")))).toEqual(content);
    expect(report).toMatchObject({ keysWritten: Object.keys(content).length, tasks: 0 });
    expect((await open(join(folder, "back/deep/b.zarr/2024/t2m"))).kind).toBe("array");
  });

  test("is filtered as any other", async () => {
    await copy(source, join(folder, "some"), { include: ["*.txt", "a.zarr"], exclude: "2023" });
    const keys = Object.keys(await contentsOf(new DirectoryStore(join(folder, "some"))));
    expect(keys).toContain("notes.txt");
    expect(keys).toContain("deep/b.zarr/notes.txt");
    expect(keys.filter((key) => /^deep\/.*(?:zarr.json|\/c\/)|2023/.test(key))).toEqual([]);
    expect((await open(join(folder, "some/a.zarr/2024/t2m"))).kind).toBe("array");
  });

  test("is no source of anything that changes arrays", async () => {
    for (const changes of [{ to: "v3" }, { codec: "zlib:1" }] as const) {
      await expect(planFlow(source, join(folder, "x"), changes)).rejects.toMatchObject({ code: "not-found" });
    }
  });

  test("must hold something", async () => {
    const nothing = planFlow(join(folder, "nothing"), join(folder, "x"));
    await expect(nothing).rejects.toMatchObject({ code: "not-found" });
  });
});
