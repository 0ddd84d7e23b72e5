import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AwsClient } from "aws4fetch";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copy, digest } from "../../src/index.ts";
import { S3Store } from "../../src/stores/s3.ts";
import { storeChecks } from "../../src/stores/testing.ts";
import { hasShared, shared } from "./shared.ts";

/** Real servers as `NAME=ENDPOINT`, separated by blanks, all with the same credentials; CI insists on them. */
const named = (process.env.ZARRFLOW_S3_SERVERS ?? "").split(" ").filter((name) => name !== "");
if (named.length === 0 && process.env.REQUIRE_S3 === "1") {
  throw new Error("REQUIRE_S3 is set, but ZARRFLOW_S3_SERVERS names no server");
}
const servers = (named.length > 0 ? named : ["a real S3 server="]).map((server) => ({
  name: server.slice(0, server.indexOf("=")),
  endpoint: server.slice(server.indexOf("=") + 1),
}));
const credentials = { accessKeyId: "testkey", secretAccessKey: "testsecret123" };
const sets = ["era5-uk-t2m.zarr", "basin-mask.zarr", "era-interim-uvz.v3.zarr"];

/** Checks that a server fails by a fault of its own. */
const FAULTS: Readonly<Record<string, RegExp>> = {
  // A folder that becomes empty is there for a moment as an object in the way.
  versitygw: /deleting and setting in one folder at once/,
};

describe.runIf(named.length > 0 && hasShared).each(servers)("$name", ({ name: server, endpoint }) => {
  const bucket = `zarrflow-${randomUUID().slice(0, 8)}`;
  const env = { ...process.env };
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "zarrflow-s3-"));
    const client = new AwsClient({ ...credentials, service: "s3", region: "us-east-1" });
    const made = await client.fetch(`${endpoint}/${bucket}`, { method: "PUT" });
    expect(made.status).toBe(200);
    Object.assign(process.env, {
      AWS_ENDPOINT_URL: endpoint,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_REGION: "us-east-1",
    });
  });
  afterAll(() => {
    process.env = env;
    rmSync(folder, { recursive: true, force: true });
  });

  const openStore = async (prefix: string = randomUUID()) =>
    new S3Store({ bucket, endpoint, credentials, prefix });
  const filled = async (values: ReadonlyMap<string, Uint8Array>) => {
    const store = await openStore();
    for (const [key, value] of values) await store.set(key, value);
    return store;
  };
  const checks = storeChecks({ lists: true, filled, empty: openStore });
  test.each(checks.filter(({ name }) => !FAULTS[server]?.test(name)))("$name", ({ run }) => run());

  test("a long value is uploaded in parts", async () => {
    const store = await openStore();
    const writer = await store.openWriter("long");
    const hash = createHash("sha256");
    for (let i = 0; i < 5; i++) {
      const piece = Uint8Array.from({ length: 5_000_000 }, (_, at) => at * 31 + i);
      hash.update(piece);
      await writer.write(piece);
    }
    await writer.commit();
    const read = createHash("sha256").update((await store.get("long")) ?? "");
    expect(read.digest("hex")).toBe(hash.digest("hex"));
    const range = { offset: 8_388_600, length: 20 };
    expect(await store.get("long", { range })).toHaveLength(20);
  });

  test("more keys than a page holds are listed in order", async () => {
    const store = await openStore();
    const keys = Array.from({ length: 1200 }, (_, i) => `c/${i}`).sort();
    await Promise.all(keys.map((key) => store.set(key, new Uint8Array(1))));
    const listed: string[] = [];
    for await (const { key } of store.list("")) listed.push(key);
    expect(listed).toEqual(keys);
  });

  test.each(sets)("%s goes from a folder to a zip, to the server, and back", async (name) => {
    const source = `${shared}data/${name}`;
    const zip = join(folder, `${name}.zip`);
    const remote = `s3://${bucket}/ring/${name}`;
    const back = join(folder, `back-${name}`);
    await copy(source, zip);
    await copy(zip, remote, { verify: true });
    expect(await digestsOf(remote)).toEqual(await digestsOf(source));
    await copy(remote, back);
    expect(filesOf(back)).toEqual(filesOf(source));
  });

  test("a zip on the server is read by ranges", async () => {
    const source = `${shared}data/${sets[0]}`;
    const zip = join(folder, "object.zarr.zip");
    await copy(source, zip);
    const store = await openStore("zips");
    await store.set("object.zarr.zip", readFileSync(zip));
    expect(await digestsOf(`s3://${bucket}/zips/object.zarr.zip`)).toEqual(await digestsOf(source));
  });
});

async function digestsOf(url: string): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for await (const { path, sha256 } of digest(url)) digests[path] = sha256;
  return digests;
}

function filesOf(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true, encoding: "utf8" })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
  return Object.fromEntries(files.map((file) => [file.slice(root.length + 1), hash(file)]));
}
