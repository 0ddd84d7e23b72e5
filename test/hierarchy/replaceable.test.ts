// @module-tag slow
import { mkdir, readdir, readFile, truncate, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { assertReplaceable } from "../../src/hierarchy/replaceable.ts";
import { clean, copy, create, createGroup } from "../../src/index.ts";
import { DEFAULT_MAX_METADATA } from "../../src/meta/format.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { readLock } from "../../src/targets/store-lock.ts";
import { buildZip } from "../stores/zip/build-zip.ts";
import { rejection } from "../streams/support.ts";
import { testFolder } from "../support/cli.ts";
import { digestOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { codeOf } from "./keys.ts";

const zarrAt = async (url: string) => (await createGroup(url, { zarrFormat: "v3" })).close();

describe.each(["directory", "zip"] as const)("what a new %s replaces", (kind) => {
  const check = (path: string) => assertReplaceable({ store: { kind, path }, path: "" });

  it("is nothing, an empty folder, a Zarr in a folder, or one in a zip", async () => {
    const cwd = await testFolder();
    await mkdir(join(cwd, "empty"));
    await zarrAt(join(cwd, "x.zarr"));
    await zarrAt(join(cwd, "x.zip"));
    for (const name of ["none", "empty", "x.zarr", "x.zip"]) await check(join(cwd, name));
  });

  it("is no file, no folder and no zip of anything else", async () => {
    const cwd = await testFolder();
    await writeFile(join(cwd, "file"), "mine");
    await writeFile(join(cwd, "nothing"), "");
    await mkdir(join(cwd, "folder"));
    await writeFile(join(cwd, "folder/file"), "mine");
    await copy(join(cwd, "folder"), join(cwd, "other.zip"));
    for (const name of ["file", "nothing", "folder", "other.zip"]) {
      await expect(check(join(cwd, name)), name).rejects.toMatchObject({ code: "target-not-empty" });
    }
  });
});

describe("a project folder with a file of a name of ours", () => {
  /** A folder with a Zarr, and a folder of a project with such a file. */
  async function made(name: string, contents: string) {
    const cwd = await testFolder();
    const [source, project] = [join(cwd, "g.zarr"), join(cwd, "project")];
    await zarrAt(source);
    await mkdir(join(project, "src"), { recursive: true });
    await writeFile(join(project, name), contents);
    await writeFile(join(project, "src/main.c"), "mine");
    await utimes(join(project, name), 1, 1);
    return { source, project };
  }
  const isLeft = async (project: string) =>
    expect(await readFile(join(project, "src/main.c"), "utf8")).toBe("mine");

  it.each(["meta", ".zarray", ".zgroup", "zarr.json", ".zattrs", "attrs", ".zmetadata"])(
    "%s is left",
    async (name) => {
      for (const contents of ["notes of mine", "{}", '["zarr_format"]', '{"title": "mine"}']) {
        const { source, project } = await made(name, contents);
        const details = { found: expect.stringContaining("src/") };
        const error = await rejection(copy(source, project, { ifExists: "replace" }));
        expect(error, contents).toMatchObject({ code: "target-not-empty", details });
        await isLeft(project);
      }
    },
  );

  it.each([
    [".zarrflow-lock", ""],
    [".zarrflow-lock", "{}"],
    [".zarrflow-lock", '{"owner": "me", "begun": "2020-01-01", "renewed": "2020-01-01"}'],
    [".zarrflow-ledger-0", "notes of mine\n"],
  ])("%s that holds %j is left, by a replacement and by clean", async (name, contents) => {
    const { source, project } = await made(name, contents);
    expect(await codeOf(copy(source, project, { ifExists: "replace" }))).toBe("target-not-empty");
    for await (const { kind } of clean(project, { breakLock: true })) expect(kind).toBe("lock");
    await isLeft(project);
  });

  it("is replaced where it is a Zarr whose metadata are not understood", async () => {
    const cwd = await testFolder();
    await mkdir(join(cwd, "x.zarr"));
    await writeFile(join(cwd, "x.zarr/zarr.json"), '{"zarr_format": 4, "node_type": "table"}');
    await assertReplaceable({ store: { kind: "directory", path: join(cwd, "x.zarr") }, path: "" });
  });
});

it("a file of the user's outlives a copy and an array of its name, and a folder a zip", async () => {
  const cwd = await testFolder();
  const at = (name: string) => join(cwd, name);
  await zarrAt(at("g.zarr"));
  await writeFile(at("file"), "mine");
  await mkdir(at("folder.zip"));
  await writeFile(at("folder.zip/file"), "mine");
  const refused = { code: "target-not-empty" };
  const ifExists = "replace";
  await expect(copy(at("g.zarr"), at("file"), { ifExists })).rejects.toMatchObject(refused);
  await expect(copy(at("g.zarr"), at("folder.zip"), { ifExists })).rejects.toMatchObject(refused);
  const array = { shape: [2], chunks: [2], dataType: "int8" } as const;
  await expect(create(at("file"), array, { ifExists })).rejects.toMatchObject(refused);
  expect(await readFile(at("file"), "utf8")).toBe("mine");
  expect(await readdir(at("folder.zip"))).toEqual(["file"]);
});

describe("a node in a zip, which is replaced as a whole", () => {
  const array = { shape: [2], chunks: [2], dataType: "int8" } as const;

  it.each(["v2", "v3"] as const)("replaces a zip of that node alone, in %s", async (zarrFormat) => {
    const at = await made(zarrFormat);
    await copy(at("g.zarr/a"), at("one.zip/x/a"));
    await copy(at("g.zarr/b"), at("one.zip/x/a"), { ifExists: "replace" });
    expect(await digestOf(at("one.zip/x/a"))).toBe(await digestOf(at("g.zarr/b")));
  });

  it.each([
    ["a node beside it", "x/c", "b", /^b\/$/],
    ["a node beside it, in a group above it", "x/c", "x/b", /^x\/b\/$/],
    ["many nodes", "c", "b d e f g h", /^b\/, d\/, e\/, f\/, g\/ and more$/],
  ])("leaves a zip of %s", async (_, path, others, found) => {
    const at = await made("v3");
    await (await createGroup(at("more.zarr"), { zarrFormat: "v3" })).close();
    for (const name of [path, ...others.split(" ")])
      await (await create(at(`more.zarr/${name}`), array)).close();
    await copy(at("more.zarr"), at("x.zip"));
    const before = await readFile(at("x.zip"));
    const error = await rejection(copy(at("g.zarr/a"), at(`x.zip/${path}`), { ifExists: "replace" }));
    const details = { found: expect.stringMatching(found) };
    expect(error).toMatchObject({ code: "target-not-empty", details });
    expect((await readFile(at("x.zip"))).equals(before)).toBe(true);
  });

  it("leaves a zip whose root has attributes", async () => {
    const at = await made("v3");
    await (await createGroup(at("more.zarr"), { zarrFormat: "v3", attributes: { title: "mine" } })).close();
    await copy(at("g.zarr/a"), at("more.zarr/a"));
    await copy(at("more.zarr"), at("x.zip"));
    await expect(copy(at("g.zarr/b"), at("x.zip/a"), { ifExists: "replace" })).rejects.toMatchObject({
      code: "target-not-empty",
      details: { found: "attributes of the root" },
    });
  });

  /** A folder with a group of two arrays. */
  async function made(zarrFormat: "v2" | "v3"): Promise<(name: string) => string> {
    const cwd = await testFolder();
    const arrays = { a: { ...array, values: [0, 1] }, b: { ...array, values: [1, 2] } };
    await given({ at: join(cwd, "g.zarr"), zarrFormat, arrays });
    return (name) => join(cwd, name);
  }
});

describe.each([".zgroup", "zarr.json", "meta"])("a huge document %s is not read", (name) => {
  const REFUSED = {
    code: "resource-limit",
    details: { key: name, expected: `at most ${DEFAULT_MAX_METADATA} bytes` },
  };
  const HUGE = 2 ** 33;

  it("in a folder", async () => {
    const cwd = await testFolder();
    await zarrAt(join(cwd, "g.zarr"));
    await mkdir(join(cwd, "x"));
    await writeFile(join(cwd, "x", name), "");
    await truncate(join(cwd, "x", name), HUGE);
    const place = { store: { kind: "directory", path: join(cwd, "x") }, path: "" } as const;
    await expect(assertReplaceable(place)).rejects.toMatchObject(REFUSED);
    await expect(copy(join(cwd, "g.zarr"), join(cwd, "x"), { ifExists: "replace" })).rejects.toMatchObject(
      REFUSED,
    );
    expect(await readdir(cwd)).toEqual(["g.zarr", "x"]);
  });

  it("in a zip, whose entry is small before it is inflated", async () => {
    const path = join(await testFolder(), "x.zip");
    await writeFile(path, buildZip([{ name, value: new Uint8Array(DEFAULT_MAX_METADATA + 1), method: 8 }]));
    const before = process.memoryUsage().arrayBuffers;
    await expect(assertReplaceable({ store: { kind: "zip", path }, path: "" })).rejects.toMatchObject(
      REFUSED,
    );
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(DEFAULT_MAX_METADATA / 2);
  });

  it.each([true, false])("on a web server that states its length: %s", async (isStated) => {
    let sent = 0;
    const server = createServer((request, response) => {
      if (request.url !== `/x/${name}`) return response.writeHead(404).end();
      response.writeHead(200, isStated ? { "content-length": HUGE } : {});
      if (request.method === "HEAD") return response.end();
      const block = Buffer.alloc(2 ** 20, " ");
      const send = () => {
        while (!response.destroyed && response.write(block)) sent += block.length;
      };
      response.on("drain", send);
      return send();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
    await expect(assertReplaceable({ store: { kind: "http", url }, path: "" })).rejects.toMatchObject({
      code: "resource-limit",
      details: { key: name },
    });
    expect(sent).toBeLessThan(2 * DEFAULT_MAX_METADATA);
    server.close();
    server.closeAllConnections();
  });
});

it("a Zarr with a document above `maxMetadata` is replaced with a higher one", async () => {
  const cwd = await testFolder();
  const at = (name: string) => join(cwd, name);
  await zarrAt(at("g.zarr"));
  for (const name of ["x.zarr", "y.zarr"]) {
    await mkdir(at(name));
    await writeFile(at(`${name}/zarr.json`), `{"zarr_format": 3, "node_type": "group"${" ".repeat(50_000)}}`);
  }
  const array = { shape: [2], chunks: [2], dataType: "int8" } as const;
  const ifExists = "replace";
  const doings = [
    (limits: object) => copy(at("g.zarr"), at("x.zarr"), { ifExists, ...limits }),
    async (limits: object) => (await create(at("y.zarr"), array, { ifExists, ...limits })).close(),
  ];
  for (const run of doings) {
    await expect(run({ maxMetadata: 50_000 })).rejects.toMatchObject({ code: "resource-limit" });
    await run({ maxMetadata: 51_000 });
  }
});

it("a lock that is too large to be one is of nobody who can be told", async () => {
  const store = new MemoryStore();
  await store.set(".zarrflow-lock", new Uint8Array(10_000_000).fill(0x20));
  expect((await readLock(store))?.renewed).toBe("undefined");
});
