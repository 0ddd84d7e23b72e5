// @module-tag slow
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGroup, open } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { FileSink } from "../../src/stores/files/file-sink.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { openStore, specOf } from "../../src/stores/url.ts";
import { ZipWriter } from "../../src/stores/zip.ts";
import { dist, requireBuild } from "../built-package.ts";
import { BUCKET, SECRET_KEY } from "../stores/s3-server.ts";
import { serveValues } from "../stores/value-server.ts";
import { valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";

const run = promisify(execFile);

/** Opens what another process has told of, and tells what is there. */
const PROGRAM = `
  const { open } = await import(process.argv[1] + "/index.js");
  const { kind, path, attributes } = await open(JSON.parse(process.argv[2]));
  console.log(JSON.stringify({ kind, path, attributes }));
`;

async function openElsewhere(told: string): Promise<unknown> {
  const args = ["--input-type=module", "-e", PROGRAM, "--", dist, told];
  const { stdout } = await run(process.execPath, args, { cwd: "/" });
  return JSON.parse(stdout);
}

describe("the spec and the path of a node, as JSON", () => {
  let folder: string;
  const values = new Map<string, Uint8Array>();
  beforeAll(async () => {
    requireBuild();
    folder = await mkdtemp(join(tmpdir(), "zarrflow-spec-"));
    const array = { shape: [2], dataType: "int8", attributes: { units: "K" }, values: null };
    await given({ at: join(folder, "x.zarr"), arrays: { t: array } });
    const source = new DirectoryStore(join(folder, "x.zarr"));
    await mkdir(join(folder, "zips"));
    const zip = new ZipWriter(await FileSink.create(join(folder, "zips/x.zip")), "zip");
    for (const [key, value] of await valuesIn(source)) {
      values.set(`x.zarr/${key}`, value);
      await zip.set(key, value);
    }
    await zip.finish();
    const whole = new ZipWriter(await FileSink.create(join(folder, "zips/outer.zip")), "zip");
    await whole.set("a/x.zip", await readFile(join(folder, "zips/x.zip")));
    await whole.finish();
    values.set("x.zip", await readFile(join(folder, "zips/x.zip")));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const expected = { kind: "array", attributes: { units: "K" } };
  const told = async (url: string) => {
    const { spec, path, store } = await open(url);
    expect(specOf(store)).toEqual(spec);
    await store.close?.();
    return JSON.stringify({ spec, path });
  };

  it.each(["x.zarr/t", "zips/x.zip/t", "zips/outer.zip|zip:a/x.zip|zip:t"])(
    "open the same of %s in another process",
    async (url) => expect(await openElsewhere(await told(join(folder, url)))).toMatchObject(expected),
  );

  it.each(["x.zarr/t", "x.zip|zip:t"])("open the same of a web server's %s", async (url) => {
    const server = await serveValues(values);
    try {
      expect(await openElsewhere(await told(`${server.url}/${url}`))).toMatchObject(expected);
    } finally {
      await server.close();
    }
  });

  it.each(["x.zarr/t", "x.zip/t"])("open the same of S3's %s, and hold no credential", async (url) => {
    const server = await serveReachableBucket();
    try {
      for (const [key, value] of values) server.objects.set(key, Buffer.from(value));
      const text = await told(`s3://${BUCKET}/${url}`);
      expect(text).not.toContain(SECRET_KEY);
      expect(await openElsewhere(text)).toMatchObject(expected);
    } finally {
      await server.close();
    }
  });

  it("open an object of the caller's in this process, as that very spec, and nowhere else", async () => {
    const store = new MemoryStore("mine");
    await (await createGroup({ store, path: "" })).close();
    const { spec, path } = await open(store);
    expect(await open({ spec, path })).toMatchObject({ kind: "group", path: "" });
    const told = JSON.parse(JSON.stringify(spec));
    await expect(open({ spec: told, path })).rejects.toMatchObject({ code: "invalid-option" });
    expect(specOf(store)).toBeUndefined();
  });

  it("open the same in this process", async () => {
    const { spec, path } = await open(join(folder, "zips/x.zip/t"));
    const node = await open({ spec, path });
    expect(node).toMatchObject(expected);
    await node.store.close?.();
    expect(await openStore(spec).then((store) => specOf(store))).toEqual(spec);
  });
});
