// @module-tag slow
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copy, openArray, slice } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { requireBuild } from "../built-package.ts";
import { expectTrueConsolidation } from "../hierarchy/fresh-consolidation.ts";
import { continuing, testFolder } from "../support/cli.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";
import { ModuleRunner, NOBODY } from "../support/module-runner.ts";

let runner: ModuleRunner;
beforeAll(() => {
  requireBuild();
  runner = ModuleRunner.ofNobody();
});
afterAll(() => runner.end());

const run = (...words: readonly string[]) => runner.zarrflow(words, tmpdir());

function giveAway(path: string): void {
  const { uid, gid } = NOBODY;
  if (uid === undefined || gid === undefined) return;
  for (const name of ["", ...readdirSync(path, { recursive: true, encoding: "utf8" })])
    chownSync(join(path, name), uid, gid);
}

describe.each(["v2", "v3"] as const)(
  "a folder in the replaced target, of %s, that nobody may change",
  (format) => {
    /** A hierarchy, in whose array `time` there is such a folder. */
    async function made(): Promise<{ folder: string; target: string }> {
      const folder = await testFolder();
      const target = join(folder, "h.zarr");
      await copy(await makeHierarchy(format, { consolidated: true }), target);
      await copy(await makeHierarchy(format, { consolidated: true, offset: 500 }), join(folder, "next.zarr"));
      const kept = join(target, "time/kept");
      mkdirSync(kept);
      writeFileSync(join(kept, "file"), "");
      giveAway(folder);
      chmodSync(kept, 0o555);
      return { folder, target };
    }

    /** Gives the rights back, so that the test's folder can be removed. */
    function unlock(folder: string): void {
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
        if (name.endsWith("kept")) chmodSync(join(folder, name), 0o755);
    }

    test.each([
      ["a member", "/time", (folder: string) => ["rechunk", `${folder}/next.zarr/time`, "--chunks", "2"]],
      ["a hierarchy", "", (folder: string) => ["copy", `${folder}/next.zarr`]],
    ])("of %s is left, with a warning that names it, and the new one stays", async (_, path, flow) => {
      const { folder, target } = await made();
      const [name = "", ...args] = flow(folder);
      const [source = "", ...options] = args;
      const replace = [name, source, `${target}${path}`, ...options, "--if-exists", "replace"];
      const { code, stderr } = await run(...replace);
      const parent = path === "" ? folder : target;
      const left = readdirSync(parent).filter((entry) => entry.includes(".zarrflow-"));
      expect({ code, left }).toEqual({ code: 0, left: [expect.any(String)] });
      expect(stderr).toContain("warning");
      expect(stderr).toContain(join(parent, left[0] ?? ""));
      expect(stderr).toContain(", could not be removed: permission denied");

      const array = await openArray(`${target}/time`);
      expect([...(await slice(array).read()).data]).toEqual([501, 502, 503, 504]);
      expect(array.chunkShape).toEqual(path === "" ? [4] : [2]);
      await expectTrueConsolidation(new DirectoryStore(target));

      // it is in nobody's way
      expect(await run(...replace)).toMatchObject({ code: 0 });
      await expectTrueConsolidation(new DirectoryStore(target));
      unlock(folder);
      expect(await run("clean", `${target}${path}`)).toMatchObject({ code: 0 });
      expect(readdirSync(parent).filter((entry) => entry.includes(".zarrflow-"))).toEqual([]);
      expect(existsSync(target)).toBe(true);
    });

    test("that is the target itself ends the run before anything changes", async () => {
      const { folder, target } = await made();
      chmodSync(join(target, "time"), 0o555);
      const { code, stderr } = await run(
        ...["rechunk", `${folder}/next.zarr/time`, `${target}/time`, "--chunks", "2"],
        ...["--if-exists", "replace"],
      );
      chmodSync(join(target, "time"), 0o755);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("permission denied") });
      expect([...(await slice(`${target}/time`).read()).data]).toEqual([1, 2, 3, 4]);
      await expectTrueConsolidation(new DirectoryStore(target));
      unlock(folder);
      expect(await run(...continuing(stderr))).toMatchObject({ code: 0 });
      expect([...(await slice(`${target}/time`).read()).data]).toEqual([501, 502, 503, 504]);
      expect(readdirSync(target).filter((entry) => entry.includes(".zarrflow-"))).toEqual([]);
    });
  },
);
