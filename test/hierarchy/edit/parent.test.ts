import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parentHierarchyOf } from "../../../src/hierarchy/edit/parent.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";

const folder = temporaryFolder();

/** Makes folders; those with a `*` at the end are groups. */
function make(...names: readonly string[]): string {
  const root = folder.next("root");
  for (const name of names) {
    const path = join(root, name.replace("*", ""));
    mkdirSync(path, { recursive: true });
    if (name.endsWith("*")) writeFileSync(join(path, ".zgroup"), '{"zarr_format": 2}');
  }
  return root;
}

describe("the hierarchy that a folder is part of", () => {
  test.each<[string, string[], string, string]>([
    ["is its own where nothing is around it", [], "x", ""],
    ["reaches up to a group", ["h*"], "h/t2m", "t2m"],
    ["reaches up over groups", ["h*", "h/a*"], "h/a/b", "a/b"],
    ["reaches over folders that are no nodes", ["h*", "h/a"], "h/a/b/c", "a/b/c"],
    ["has its root at a name", [], "new.zarr/a/b", "a/b"],
    ["reaches over a name to groups above", ["h*"], "h/new.zarr/a", "new.zarr/a"],
    ["does not reach over a name and a gap", ["h*", "h/data"], "h/data/new.zarr/a", "a"],
    ["does not reach over a gap from its own name", ["h*", "h/data"], "h/data/new.zarr", ""],
    ["is part of the group that it lies in, whatever its name", ["h*"], "h/new.zarr", "new.zarr"],
  ])("%s", async (_, folders, name, path) => {
    const home = await parentHierarchyOf({ kind: "directory", path: join(make(...folders), name) });
    expect(home.path).toBe(path);
    expect(home.store.description).toMatch(
      new RegExp(`${name.slice(0, name.length - path.length).replace(/\/$/, "")}$`),
    );
  });
});
