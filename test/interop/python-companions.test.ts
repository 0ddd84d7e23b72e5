import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { convert, copy, exists, rechunk, sliceTo } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { hasPython, runPython } from "./python.ts";

/** One variable of a dataset, as companion_cases.py describes it. */
interface Case {
  readonly store: string;
  readonly variable: string;
  readonly slice: Readonly<Record<string, readonly [number, number, number]>>;
}

describe.runIf(hasPython)("what belongs to a variable, against xarray", () => {
  const folder = temporaryFolder();

  test("comes along: the result has the coordinates of ds[[variable]]", { timeout: 300_000 }, async () => {
    const cases = (await runPython("companion_cases.py", folder.path)) as Case[];
    const made: (Case & { readonly made: string; readonly isSliced: boolean })[] = [];
    for (const [i, one] of cases.entries()) {
      const { store, variable, slice } = one;
      const target = (name: string) => join(folder.path, `${i}.${name}.zarr`);
      const [first = ""] = Object.keys(slice);
      await copy(store, target("copy"), { include: variable });
      await rechunk(store, target("rechunk"), { include: variable, chunks: { [first]: 1 } });
      const to = store.includes(".v2") ? "v3" : "v2";
      await convert(store, target("convert"), { include: variable, to });
      await sliceTo(store, target("group"), { include: variable, slice });
      await sliceTo(`${store}/${variable}`, target("array"), { slice });
      for (const name of ["copy", "rechunk", "convert"])
        made.push({ ...one, made: target(name), isSliced: false });
      for (const name of ["group", "array"]) made.push({ ...one, made: target(name), isSliced: true });
    }
    expect(cases.length).toBe(12);
    expect(await runPython("companion_cases.py", folder.path, JSON.stringify(made))).toEqual([]);
    const regular = made.filter(({ store }) => store.includes("regular"));
    for (const { made: target } of regular) {
      for (const name of ["time_bnds", "crs", "t2m_error", "cell_area"])
        expect(await exists(`${target}/${name}`), `${target}/${name}`).toBe(true);
      for (const name of ["depth", "other"]) expect(await exists(`${target}/${name}`), name).toBe(false);
    }
  });
});
