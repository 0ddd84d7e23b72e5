import { describe, expect, test } from "vitest";
import { open, openArray, openGroup, walk, type ZarrGroup } from "../../../src/index.ts";
import { HttpStore } from "../../../src/stores/http.ts";
import type { Store } from "../../../src/stores/store.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { serveValues } from "../../stores/value-server.ts";
import { all, valuesIn } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { codeOf } from "../keys.ts";
import { UnlistedStore } from "../stores.ts";

const ARRAY = { shape: [4], chunks: [2], dataType: "int8" };
const ARRAYS = { t: ARRAY, "a/u": { ...ARRAY, attributes: { units: "K" } } };

/** A group in a store, and the keys that were asked for since they were taken last. */
async function opened(of: Store): Promise<{ readonly group: ZarrGroup; readonly taken: () => string[] }> {
  const requests: string[] = [];
  const store = withRequestLog(of, ({ key }) => requests.push(key));
  const group = await openGroup(store);
  requests.length = 0;
  return { group, taken: () => requests.splice(0) };
}

describe("the member of an open group", () => {
  test("takes no request where the group's document of v3 lists it", async () => {
    const { group, taken } = await opened(
      await given({ zarrFormat: "v3", arrays: ARRAYS, consolidated: true }),
    );
    expect((await openArray(group, "t")).shape).toEqual([4]);
    expect((await openArray(group, "a/u")).attributes).toEqual({ units: "K" });
    const a = await openGroup(group, "a");
    expect((await openArray(a, "u")).path).toBe("a/u");
    expect((await open(group, "/a/u/")).kind).toBe("array");
    expect(taken()).toEqual([]);
    expect([...(await (await openArray(group, "t")).slice().read()).data]).toEqual([0, 1, 2, 3]);
  });

  test("takes one request, once, where v2 consolidates over HTTP", async () => {
    const values = await valuesIn(await given({ zarrFormat: "v2", arrays: ARRAYS, consolidated: true }));
    const server = await serveValues(values);
    const { group, taken } = await opened(new HttpStore(server.url));
    await openArray(group, "t");
    expect(taken()).toEqual([".zmetadata"]);
    await Promise.all([openArray(group, "t"), openArray(group, "a/u")]);
    expect(taken()).toEqual([]);
    await server.close();
  });

  test("takes none that a walk gave with all that is consolidated", async () => {
    const memory = await given({ zarrFormat: "v2", arrays: ARRAYS, consolidated: true });
    const { group, taken } = await opened(new UnlistedStore(memory));
    const nodes = await all(walk(group));
    taken();
    const a = nodes.find(({ path }) => path === "a") as ZarrGroup;
    await openArray(a, "u");
    expect(taken()).toEqual([]);
  });

  test.each([
    ["v3", ["t/zarr.json"]],
    ["v2", ["t/.zarray", "t/.zattrs"]],
  ] as const)("is read by its own documents alone where none lists it: %s", async (zarrFormat, keys) => {
    const { group, taken } = await opened(await given({ zarrFormat, arrays: ARRAYS }));
    await openArray(group, "t");
    expect(taken().sort()).toEqual(keys);
  });

  test("is found where it was written after its group was consolidated", async () => {
    const store = await given({ zarrFormat: "v3", arrays: ARRAYS, consolidated: true });
    const { group } = await opened(store);
    await given({ ...ARRAY, zarrFormat: "v3", at: { store, path: "late" } });
    expect((await openArray(group, "late")).path).toBe("late");
  });

  test("of a draft of v3 is found in the tree of its hierarchy", async () => {
    const { group } = await opened(await given({ zarrFormat: "v3-draft-2019", arrays: ARRAYS }));
    expect((await openArray(group, "a/u")).path).toBe("a/u");
  });

  test("is the group itself by an empty path", async () => {
    const { group } = await opened(await given({ arrays: ARRAYS }));
    expect(await openGroup(group, "")).toBe(group);
  });

  test("that is not there, or of the other kind, is an error with what is near", async () => {
    const { group } = await opened(await given({ zarrFormat: "v3", arrays: ARRAYS, consolidated: true }));
    await expect(openArray(group, "tt")).rejects.toMatchObject({
      code: "not-found",
      details: { path: "tt", hint: expect.stringContaining("`t`") },
    });
    await expect(openArray(group, "a")).rejects.toMatchObject({ code: "not-found" });
    await expect(openGroup(group, "t")).rejects.toMatchObject({ code: "not-found" });
    await expect(openArray(group, "../t")).rejects.toMatchObject({ code: "path-not-allowed" });
    const array = await openArray(group, "t");
    await expect(openArray(array as never, "t")).rejects.toMatchObject({ code: "invalid-option" });
    expect(await codeOf(openArray(group, "t", { wrap: (store: Store) => store } as object))).toBe(
      "invalid-option",
    );
    expect(await codeOf(openArray(group, "t", { signal: AbortSignal.abort() }))).toBe("aborted");
  });
});
