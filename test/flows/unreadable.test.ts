// @module-tag slow
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { estimateCopy } from "../../src/flows/estimate-copy.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { convert, copy, diff, rechunk, tree, validate } from "../../src/index.ts";
import { requireBuild } from "../built-package.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all, digestsOf } from "../support/consume.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";
import { ModuleRunner } from "../support/module-runner.ts";

const folder = temporaryFolder();

async function source(): Promise<string> {
  const path = folder.next("s.zarr");
  await copy(await makeHierarchy("v2"), path);
  return path;
}

/** Puts what cannot be read at a path, in place of what is there. */
const UNREADABLE = {
  "a symbolic link to nothing": (path: string) => fs.symlinkSync("../.git/annex/KEY", path),
  "a link to outside": (path: string) => fs.symlinkSync("/etc", path),
  "a pipe": (path: string) => execFileSync("mkfifo", [path]),
};

function replaceBy(make: (path: string) => void, path: string): void {
  fs.rmSync(path, { force: true });
  make(path);
}

const FLOWS = {
  copy,
  rechunk: (from: string, to: string, filter: object) =>
    rechunk(from, to, { chunks: "time:2", codec: "zlib:1", ...filter }),
  convert: (from: string, to: string, filter: object) => convert(from, to, { to: "v3", ...filter }),
};

describe.skipIf(process.platform === "win32").each(Object.entries(UNREADABLE))("%s", (kind, make) => {
  const flows = kind === "a pipe" ? FLOWS : { copy };
  describe.each(Object.entries(flows))("%s", (_name, flow) => {
    test.each([
      ["a chunk", "2023/u10/0.0"],
      ["a key beside the chunks", "2023/u10/notes.txt"],
      ["a key of a group", "2023/notes.txt"],
      ["a key of the root", "2023.txt"],
      ["a document", "2023/u10/.zarray"],
    ])("leaves out %s that cannot be read", async (_what, key) => {
      const from = await source();
      replaceBy(make, join(from, key));
      const filters = [
        { exclude: "2023*" },
        { exclude: ["2023", "2023.txt"] },
        { include: ["time", "2024"] },
      ];
      for (const filter of filters) {
        const to = folder.next("t.zarr");
        await flow(from, to, filter);
        const paths = Object.keys(await digestsOf(to));
        expect(paths.filter((path) => path.startsWith("2024"))).toHaveLength(2);
        expect(paths.some((path) => path.startsWith("2023"))).toBe(false);
      }
      const to = folder.next("t.zarr");
      fs.mkdirSync(join(to, ".."), { recursive: true });
      await expect(flow(from, to, { exclude: "2024" })).rejects.toMatchObject({
        code: make === UNREADABLE["a link to outside"] ? "path-not-allowed" : "corrupt-store",
        details: { store: expect.stringContaining("s.zarr"), key: expect.stringContaining(key) },
      });
      expect(fs.existsSync(to)).toBe(false);
    });
  });

  test("is left out of estimates, updates and plain folders too", async () => {
    const from = await source();
    const exclude = ["2023", "*.lnk"];
    const to = folder.next("t.zarr");
    await copy(from, to, { exclude });
    replaceBy(make, join(from, "2023/u10/0.0"));
    replaceBy(make, join(from, "2024/x.lnk"));
    const planned = await planFlow(from, folder.next("t.zarr"), { exclude });
    expect((await estimateCopy(planned)).keys).toBeGreaterThan(5);
    await planned.close();
    await copy(from, to, { exclude, ifExists: "update" });
    const plain = folder.next("plain");
    fs.mkdirSync(join(plain, "sub"), { recursive: true });
    fs.writeFileSync(join(plain, "z.txt"), "z");
    make(join(plain, "sub/a.lnk"));
    const copied = folder.next("plain");
    await copy(plain, copied, { exclude: "*.lnk" });
    expect(fs.readdirSync(copied)).toEqual(["z.txt"]);
  });

  test("is a finding of validate, which goes on", async () => {
    const from = await source();
    const keys = ["2023/t2m/0.0", "2023/u10/.zarray", "2024/other", "z.txt"];
    for (const key of keys) replaceBy(make, join(from, key));
    fs.writeFileSync(join(from, "2024/u10/1.1"), "");
    for (const deep of [false, true]) {
      const errors = (await all(validate(from, { deep }))).filter(({ level }) => level === "error");
      expect(errors.map(({ what, path, key }) => `${what} ${path} ${key}`).sort()).toEqual([
        "chunk-size 2024/u10 2024/u10/1.1",
        "metadata 2023/u10 2023/u10/.zarray",
        "unreadable  z.txt",
        "unreadable 2023/t2m 2023/t2m/0.0",
        "unreadable 2024 2024/other",
      ]);
    }
  });

  test("is a broken node of tree and diff where a node may be", async () => {
    const from = await source();
    make(join(from, "2024/other"));
    const broken = (await all(tree(from))).filter(({ kind }) => kind === "broken");
    expect(broken.map(({ path }) => path)).toEqual(["2024/other"]);
    const differences = (await all(diff(from, await source()))).map(({ path, what }) => `${path} ${what}`);
    expect(differences).toEqual(["2024/other broken"]);
  });
});

test("a node that cannot be read and is not included is left out with a warning", async () => {
  const from = await source();
  fs.writeFileSync(join(from, "2023/.zgroup"), "{");
  const planned = await planFlow(from, folder.next("t.zarr"), { include: "time" });
  const message = expect.stringContaining("is skipped");
  expect(planned.plan.warnings).toMatchObject([{ path: "2023", message }]);
  await planned.close();
  const included = planFlow(from, folder.next("t.zarr"), { include: "2023" });
  await expect(included).rejects.toMatchObject({ code: "invalid-metadata" });
});

describe.skipIf(process.platform === "win32")("files of another user", () => {
  let runner: ModuleRunner;
  beforeAll(() => {
    requireBuild();
    runner = ModuleRunner.ofNobody();
  });
  afterAll(() => runner.end());

  const run = (...words: string[]) => runner.zarrflow(words, tmpdir());

  test.each([["2023/u10/0.0"], ["2023/u10"], ["2023"]])("%s", async (name) => {
    const from = await source();
    const place = join(folder.path, "public");
    fs.mkdirSync(place, { recursive: true });
    fs.chmodSync(folder.path, 0o755);
    fs.chmodSync(place, 0o777);
    fs.chmodSync(join(from, name), 0);
    try {
      for (const filter of ["--exclude 2023", "--include 2024 --include time"]) {
        const to = join(place, `${name}${filter}.zarr`.replaceAll(/[ /]/g, "-"));
        expect(await run("copy", from, to, ...filter.split(" "))).toMatchObject({ code: 0 });
      }
      const refused = await run("copy", from, join(place, "refused.zarr"));
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("permission denied") });
      const found = await run("validate", "--deep", "--json", from);
      expect(found.code).toBe(1);
      expect(found.stdout).toContain("permission denied");
      expect(found.stdout).toContain(name);
    } finally {
      fs.chmodSync(join(from, name), 0o755);
    }
  });
});
