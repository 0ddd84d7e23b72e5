import { describe, expect, it } from "vitest";
import { openGroup } from "../../../src/hierarchy/open/open.ts";
import { children, walk } from "../../../src/hierarchy/open/walk.ts";
import type { Store } from "../../../src/stores/store.ts";
import { rejection } from "../../streams/support.ts";
import { all, drain } from "../../support/consume.ts";
import { givenKeys } from "../../support/given.ts";
import { codeOf } from "../keys.ts";
import { ARRAY, GROUP, UnlistedStore, ZARRAY, ZGROUP } from "../stores.ts";

const multiscales = (...paths: string[]) => [{ version: "0.4", datasets: paths.map((path) => ({ path })) }];

/** A group of v2 with attributes, and arrays and groups without any. */
function v2(path: string, attributes: object): Record<string, unknown> {
  const prefix = path === "" ? "" : `${path}/`;
  return { [`${prefix}.zgroup`]: ZGROUP, [`${prefix}.zattrs`]: attributes };
}

const v3 = (path: string, ome: object) => ({
  [path === "" ? "zarr.json" : `${path}/zarr.json`]: {
    ...GROUP,
    attributes: { ome: { version: "0.5", ...ome } },
  },
});

async function found(documents: Record<string, unknown>): Promise<string[]> {
  const store = await givenKeys(documents);
  const nodesOf = async (from: Store) =>
    (await all(walk(await openGroup(from)))).map(({ kind, path }) => `${kind} ${path}`);
  const told = await nodesOf(new UnlistedStore(store));
  expect(told).toEqual(await nodesOf(store));
  return told;
}

describe("members of groups in a store that cannot list", () => {
  it("are the levels of an image, and its labels", async () => {
    const documents = {
      ...v2("", { multiscales: multiscales("0", "1") }),
      "0/.zarray": ZARRAY,
      "1/.zarray": ZARRAY,
      ...v2("labels", { labels: ["cells", "original/0"] }),
      ...v2("labels/cells", { multiscales: multiscales("0"), "image-label": {} }),
      "labels/cells/0/.zarray": ZARRAY,
      ...v2("labels/original/0", { multiscales: multiscales("s0") }),
      "labels/original/0/s0/.zarray": ZARRAY,
    };
    expect((await found(documents)).join(", ")).toBe(
      "array 0, array 1, group labels, group labels/cells, array labels/cells/0, " +
        "group labels/original, group labels/original/0, array labels/original/0/s0",
    );
  });

  it("are the same of Zarr v3, where the metadata lie under `ome`", async () => {
    const documents = {
      ...v3("", { multiscales: multiscales("scale0/image", "scale1/image") }),
      "scale0/zarr.json": GROUP,
      "scale0/image/zarr.json": ARRAY,
      "scale1/image/zarr.json": ARRAY,
      ...v3("labels", { labels: [] }),
    };
    const levels = ["group scale0", "array scale0/image", "group scale1", "array scale1/image"];
    expect(await found(documents)).toEqual(["group labels", ...levels]);
  });

  it("are the wells of a plate and their images", async () => {
    const wells = ["A/1", "A/2", "B/1", "H/12"].map((path) => ({ path }));
    const documents = {
      ...v2("", { plate: { wells } }),
      "A/.zgroup": ZGROUP,
      ...v2("A/1", { well: { images: [{ path: "0" }, { path: "1" }] } }),
      ...v2("A/1/0", { multiscales: multiscales("0") }),
      "A/1/0/0/.zarray": ZARRAY,
      ...v2("A/1/1", { multiscales: multiscales("0") }),
      "A/1/1/0/.zarray": ZARRAY,
      "B/.zgroup": ZGROUP,
      ...v2("B/1", { well: { images: [] } }),
    };
    expect((await found(documents)).join(", ")).toBe(
      "group A, group A/1, group A/1/0, array A/1/0/0, group A/1/1, array A/1/1/0, group B, group B/1",
    );
  });

  it("are the images of a collection, by its series or by number", async () => {
    const images = {
      ...v2("0", { multiscales: multiscales("0") }),
      "0/0/.zarray": ZARRAY,
      ...v2("1", { multiscales: multiscales("0") }),
      "1/0/.zarray": ZARRAY,
    };
    const root = v2("", { "bioformats2raw.layout": 3 });
    const inBoth = ["group 0", "array 0/0", "group 1", "array 1/0"];
    expect(await found({ ...root, ...images })).toEqual(inBoth);
    const series = { ...root, ...images, ...v2("OME", { series: ["0", "1"] }) };
    expect(await found(series)).toEqual([...inBoth, "group OME"]);
  });

  it("are of one level where one is asked for", async () => {
    const wells = { plate: { wells: [{ path: "A/1" }] } };
    const store = new UnlistedStore(await givenKeys({ ...v2("", wells), ...v2("A/1", { well: {} }) }));
    expect((await all(children(await openGroup(store)))).map(({ path }) => path)).toEqual(["A"]);
  });

  it("never lie outside the group, whatever its metadata say", async () => {
    const names = "..|../x|/x||.|a//b|a/../../x|__proto__|constructor|a\\..\\x|0".split("|");
    const attributes = { multiscales: multiscales(...names), plate: [], well: null, labels: { a: 1 } };
    const image = { ...v2("image", attributes), "image/0/.zarray": ZARRAY };
    const store = new UnlistedStore(await givenKeys({ ...image, "x/.zarray": ZARRAY }));
    const paths = (await all(walk(await openGroup({ store, path: "image" })))).map(({ path }) => path);
    expect(paths).toEqual(["image/0"]);
    expect(store.asked.every((key) => key.startsWith("image/") || !key.includes("/"))).toBe(true);
  });

  it("are refused where there are far too many, or they lie too deep", async () => {
    const many = multiscales(...Array.from({ length: 10_001 }, (_, i) => `${i}`));
    const wide = new UnlistedStore(await givenKeys(v2("", { multiscales: many })));
    expect(await codeOf(walk(await openGroup(wide)).next())).toBe("resource-limit");
    const deep = new UnlistedStore(await givenKeys({}));
    const endless = { ".zgroup": ZGROUP, ".zattrs": { labels: ["a"] } };
    deep.get = async (key) => {
      const document = Object.entries(endless).find(([name]) => key.endsWith(name))?.[1];
      return document && new TextEncoder().encode(JSON.stringify(document));
    };
    expect(await codeOf(drain(walk(await openGroup(deep))))).toBe("resource-limit");
  });

  it("are not made up for groups that say nothing", async () => {
    const documents = { ...v2("", { labels: ["a"] }), ...v2("a", { title: "no image" }) };
    const walked = walk(await openGroup(new UnlistedStore(await givenKeys(documents))));
    const refused = { code: "unsupported-operation", details: { path: "a" } };
    expect(await rejection(drain(walked))).toMatchObject(refused);
  });
});
