// @module-tag long
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BUCKET, type S3Fault, type S3Seen, type S3Server, SECRET_KEY } from "../stores/s3-server.ts";
import { continuing, type Run, runCli, testFolder } from "../support/cli.ts";
import { serveReachableBucket, stubEnvironment as setEnv } from "../support/s3-environment.ts";
import { writeV2Group } from "../support/v2-store.ts";

const arrays = { t: { shape: [8, 6], chunks: [2, 3] } };
const SOURCE = `s3://${BUCKET}/g.zarr`;
const TARGET = `s3://${BUCKET}/h.zarr`;
/** What must be seen nowhere. */
const SECRETS = [SECRET_KEY, "wrongsecret987", "sessiontoken654", "Signature=", "Credential="];

let server: S3Server;
let cwd: string;
beforeEach(async () => {
  server = await serveReachableBucket();
  cwd = await testFolder();
  setEnv({ AWS_EC2_METADATA_DISABLED: "true" });
  await writeV2Group(join(cwd, "g.zarr"), arrays, { title: "x" });
  await fill();
});
afterEach(() => server.close());

/** Puts the group into the bucket as it is. */
async function fill(): Promise<void> {
  const folder = join(cwd, "g.zarr");
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    server.objects.set(`g.zarr/${path.slice(folder.length + 1)}`, await readFile(path));
  }
}

/** Runs the command, and looks for secrets in all that it says. */
async function run(...args: readonly string[]): Promise<Run> {
  const done = await runCli(cwd, ...args);
  expectNoSecret(done.stdout, done.stderr);
  return done;
}

function expectNoSecret(...texts: readonly string[]): void {
  for (const text of texts) for (const secret of SECRETS) expect(text).not.toContain(secret);
}

/** Nothing half done is left in the bucket or the folder. */
async function expectNothingLeft(): Promise<void> {
  expect([...server.objects.keys()].filter((key) => !key.startsWith("g.zarr/"))).toEqual([]);
  expect(server.uploads.size).toBe(0);
  expect(await readdir(cwd)).toEqual(["g.zarr"]);
}

/** The run goes on as soon as nothing fails any more, and nothing but its target is left. */
async function expectContinued(stderr: string): Promise<void> {
  server.fault = undefined;
  const words = continuing(stderr);
  expect(await run(...words)).toMatchObject({ code: 0 });
  const [, source = "", target = ""] = words;
  expect(await run("diff", source, target)).toMatchObject({ code: 0 });
  const names = [...server.objects.keys(), ...(await readdir(cwd))];
  expect(names.filter((name) => name.includes("zarrflow-"))).toEqual([]);
  expect(server.uploads.size).toBe(0);
}

function refuse(isMeant: (request: S3Seen) => boolean, status: number, code: string): S3Fault {
  return (response, request) => {
    if (!isMeant(request)) return false;
    response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
    return true;
  };
}

describe("a failure of S3", () => {
  it.each([
    ["a wrong secret", { AWS_SECRET_ACCESS_KEY: "wrongsecret987" }, 1, /the credentials are not valid/],
    ["an unknown key", { AWS_ACCESS_KEY_ID: "nobody" }, 1, /the credentials are not valid/],
    ["a wrong token", { AWS_SESSION_TOKEN: "sessiontoken654" }, 1, /the credentials are not valid/],
    [
      "no credentials",
      { AWS_ACCESS_KEY_ID: undefined },
      1,
      /no credentials to sign requests[\s\S]*hint: Set AWS_ACCESS_KEY_ID/,
    ],
    [
      "attempts that are no number",
      { AWS_MAX_ATTEMPTS: "many" },
      2,
      /AWS_MAX_ATTEMPTS must be a whole number/,
    ],
    ["a profile that is not there", { AWS_PROFILE: "nobody" }, 2, /there is no profile nobody/],
    [
      "an expired credential",
      { AWS_CREDENTIAL_EXPIRATION: "2026-01-02T03:04:05Z" },
      1,
      /the credentials have expired[\s\S]*hint: Get new credentials/,
    ],
    [
      "a host that nobody knows",
      { AWS_ENDPOINT_URL: "http://no-such-host.invalid" },
      5,
      /the connection failed[\s\S]*hint: Check the host name in http:\/\/no-such-host.invalid/,
    ],
    ["a host that is not there", { AWS_ENDPOINT_URL: "http://127.0.0.1:1" }, 5, /the connection failed/],
  ])("%s", async (_, variables, code, words) => {
    setEnv(variables);
    for (const line of [
      ["copy", SOURCE, "h.zarr"],
      ["copy", "g.zarr", TARGET, "--json"],
    ]) {
      const done = await run(...line);
      expect(done).toMatchObject({ code, stdout: "" });
      if (!line.includes("--json")) expect(done.stderr).toMatch(words);
      else expect(JSON.parse(done.stderr).error).toMatchObject({ exitCode: code });
    }
    await expectNothingLeft();
  });

  it("an expired token", async () => {
    server.keys.set("temporary", { secret: SECRET_KEY, token: "sessiontoken654", isExpired: true });
    setEnv({ AWS_ACCESS_KEY_ID: "temporary", AWS_SESSION_TOKEN: "sessiontoken654" });
    for (const line of [
      ["copy", SOURCE, "h.zarr"],
      ["copy", "g.zarr", TARGET],
    ]) {
      const { code, stderr } = await run(...line);
      expect(code).toBe(1);
      expect(stderr).toMatch(/the credentials have expired[\s\S]*hint: Get new credentials/);
    }
    await expectNothingLeft();
  });

  it("a token that expires amid a copy", async () => {
    server.keys.set("temporary", { secret: SECRET_KEY, token: "sessiontoken654" });
    setEnv({ AWS_ACCESS_KEY_ID: "temporary", AWS_SESSION_TOKEN: "sessiontoken654" });
    server.fault = refuse(({ key }) => key === "g.zarr/t/3.1", 400, "ExpiredToken");
    const { code, stderr } = await run("copy", SOURCE, "h.zarr");
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("key t/3.1") });
    await expectContinued(stderr);
  });

  it("no bucket", async () => {
    for (const line of [
      ["copy", "s3://nowhere/g.zarr", "h.zarr"],
      ["copy", "g.zarr", "s3://nowhere/h.zarr"],
      ["info", "s3://nowhere/g.zarr"],
    ]) {
      const { code, stderr } = await run(...line);
      expect(code).toBe(3);
      expect(stderr).toMatch(/there is no such bucket/);
    }
    await expectNothingLeft();
  });

  it.each([
    ["is read", ["copy", SOURCE, "h.zarr"], ({ key }: S3Seen) => key === "g.zarr/t/3.1"],
    [
      "is written",
      ["copy", "g.zarr", TARGET],
      ({ key, method }: S3Seen) => key === "h.zarr/t/3.1" && method === "PUT",
    ],
  ])("a 403 on one key that %s", async (_, line, isMeant) => {
    server.fault = refuse(isMeant, 403, "AccessDenied");
    const { code, stderr } = await run(...line);
    expect(code).toBe(1);
    expect(stderr).toMatch(/key t\/3\.1.*the server denies access \(found 403 AccessDenied\)/);
    await expectContinued(stderr);
  });

  it("a server that closes amid a body", async () => {
    setEnv({ AWS_MAX_ATTEMPTS: "3" });
    server.fault = (response, { key }) => {
      if (key !== "g.zarr/t/3.1") return false;
      response.writeHead(200, { "content-length": 24 }).write("half");
      setTimeout(() => response.destroy(), 5);
      return true;
    };
    const { code, stderr } = await run("copy", SOURCE, "h.zarr");
    expect(code).toBe(5);
    expect(stderr).toMatch(
      /^waiting \d.*g\.zarr\/t\/3\.1 in s3:\/\/bucket: [\s\S]*\nzarrflow: .*key t\/3\.1/,
    );
    expect(server.requests.filter(({ key }) => key === "g.zarr/t/3.1")).toHaveLength(3);
    await expectContinued(stderr);
  });

  it("a server that closes amid an upload", async () => {
    setEnv({ AWS_MAX_ATTEMPTS: "3" });
    await mkdir(join(cwd, "g.zarr/long"));
    await writeFile(join(cwd, "g.zarr/long/value"), new Uint8Array(2e7));
    server.fault = (response, { query }) => {
      if (query.get("partNumber") !== "2") return false;
      response.destroy();
      return true;
    };
    const { fault } = server;
    for (const target of [`${TARGET}.zip`, TARGET]) {
      server.fault = fault;
      const { code, stderr } = await run("copy", "g.zarr", target);
      expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining("zarrflow:") });
      await expectContinued(stderr);
    }
  }, 60_000);

  it("another run that takes the target over amid a copy", async () => {
    server.fault = (_, { key }) => {
      const now = new Date().toISOString();
      const record = { owner: "o", host: "elsewhere", pid: 1, begun: now, renewed: now };
      if (key === "h.zarr/t/3.1")
        server.objects.set("h.zarr/.zarrflow-lock", Buffer.from(JSON.stringify(record)));
      return false;
    };
    const taken = await run("copy", "g.zarr", TARGET);
    expect(taken.code).toBe(1);
    expect(taken.stderr).toMatch(/another run took over the target.*process 1 on elsewhere/);
    server.fault = undefined;
    const late = await run("copy", "g.zarr", TARGET, "--if-exists", "replace");
    expect(late.code).toBe(1);
    expect(late.stderr).toMatch(/another run is writing to the target[\s\S]*hint: Wait for it/);
  });

  it("a target that changes amid a copy differs", async () => {
    server.fault = (_, { key, method }) => {
      if (key === "h.zarr/t/0.0" && method === "GET") server.objects.set(key, Buffer.alloc(24));
      return false;
    };
    const { code, stderr } = await run("copy", "g.zarr", TARGET, "--verify");
    expect(code).toBe(6);
    expect(stderr).toMatch(/key t\/0\.0/);
    await expectNothingLeft();
  });
});

describe("no secret", () => {
  it("is in the ledger or the report", async () => {
    // so many that the ledger is written before the end
    for (let i = 0; i < 900; i++) server.objects.set(`g.zarr/zz/${i}`, Buffer.from("x"));
    let ledger = "";
    server.fault = async (_, { key }) => {
      if (key !== "g.zarr/zz/99") return false;
      const names = await readdir(cwd);
      const control = names.find((name) => name.startsWith(".h.zarr.zarrflow-"));
      const file = join(cwd, control ?? "none", "ledger.jsonl");
      while (ledger === "") {
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (existsSync(file)) ledger = await readFile(file, "utf8");
      }
      return false;
    };
    setEnv({ AWS_SESSION_TOKEN: "" });
    const { code } = await run("copy", SOURCE, "h.zarr", "--io", "1", "--report", "report.html");
    expect(code).toBe(0);
    expect(ledger).toContain('"key":"zz/100"');
    expectNoSecret(ledger, await readFile(join(cwd, "report.html"), "utf8"));
    expectNoSecret((await run("copy", SOURCE, TARGET, "--dry-run", "--json")).stdout);
  });
});

describe("access", () => {
  it("--anonymous reads without credentials, and writes with them", async () => {
    const seen = (key: string) => server.requests.filter((request) => request.key.startsWith(key));
    server.fault = (response, { key, method, query }) => {
      if (method === "GET" && key === "" && query.get("prefix")?.startsWith("g.zarr")) {
        const keys = [...server.objects].flatMap(([name, bytes]) =>
          name.startsWith("g.zarr/")
            ? [`<Contents><Key>${name}</Key><Size>${bytes.length}</Size></Contents>`]
            : [],
        );
        response.end(`<ListBucketResult>${keys.join("")}</ListBucketResult>`);
        return true;
      }
      if (!key.startsWith("g.zarr")) return false;
      const value = server.objects.get(key);
      response.writeHead(value ? 200 : 404, { "content-length": value?.length ?? 0 });
      response.end(method === "HEAD" ? undefined : value);
      return true;
    };
    const { code, stderr } = await run("copy", SOURCE, TARGET, "--anonymous");
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(seen("g.zarr").filter(({ headers }) => headers.authorization)).toEqual([]);
    expect(seen("h.zarr").filter(({ headers }) => !headers.authorization)).toEqual([]);
  });

  it("--missing-403 takes 403 for a missing key", async () => {
    server.fault = refuse(
      ({ key, method }) => method !== "PUT" && key !== "" && !server.objects.has(key),
      403,
      "AccessDenied",
    );
    expect(await run("info", SOURCE)).toMatchObject({ code: 1 });
    expect(await run("info", SOURCE, "--missing-403", "--json")).toMatchObject({ code: 0 });
  });
});
