// @module-tag long
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { command } from "../built-package.ts";
import { BUCKET, type S3Fault, type S3Seen, type S3Server, SECRET_KEY } from "../stores/s3-server.ts";
import { serveValues, type ValueServer } from "../stores/value-server.ts";
import { continuing, exitOf, type Run, runCli } from "../support/cli.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { serveReachableBucket, stubEnvironment as setEnv } from "../support/s3-environment.ts";
import { samples } from "../support/samples.ts";
import { type Shell, shell } from "./shell.ts";

withoutPauses();

const SOURCE = `s3://${BUCKET}/g.zarr`;
const TARGET = `s3://${BUCKET}/h.zarr`;
/** What must be seen nowhere. */
const SECRETS = [SECRET_KEY, "wrongsecret987", "sessiontoken654", "Signature=", "Credential="];

let typed: Shell;
beforeEach(async () => {
  typed = await shell({ "g.zarr": { t: { shape: [8, 6], chunks: [2, 3] } } }, { title: "x" });
});

function expectNoSecret(...texts: readonly string[]): void {
  for (const text of texts) for (const secret of SECRETS) expect(text).not.toContain(secret);
}

/** Runs the command, and looks for secrets in all that it says. */
async function run(line: string): Promise<Run> {
  const done = await typed.run(line);
  expectNoSecret(done.stdout, done.stderr);
  return done;
}

const says = (text: string | RegExp) => expect.stringMatching(text);

/** Answers, and breaks off amid a body of so many bytes. */
const closeAmid = (response: ServerResponse, length: number): true => {
  response.writeHead(200, { "content-length": length }).write("half");
  setTimeout(() => response.destroy(), 5);
  return true;
};

describe("a bucket", () => {
  let server: S3Server;
  beforeEach(async () => {
    server = await serveReachableBucket();
    setEnv({ AWS_EC2_METADATA_DISABLED: "true" });
    for (const name of await typed.names("g.zarr", true))
      if (/[.\d]/.test(name)) server.objects.set(`g.zarr/${name}`, await readFile(typed.at("g.zarr", name)));
  });
  afterEach(() => server.close());

  /** Nothing half done is left in the bucket or the folder. */
  async function expectNothingLeft(): Promise<void> {
    expect([...server.objects.keys()].filter((key) => !key.startsWith("g.zarr/"))).toEqual([]);
    expect(server.uploads.size).toBe(0);
    expect(await typed.names()).toEqual(["g.zarr"]);
  }

  /** The run goes on as soon as nothing fails any more, and nothing but its target is left. */
  async function expectContinued(stderr: string): Promise<void> {
    server.fault = undefined;
    const words = continuing(stderr).join(" ");
    expect(await run(words)).toMatchObject({ code: 0 });
    const [, source, target] = words.split(" ");
    expect(await run(`diff ${source} ${target}`)).toMatchObject({ code: 0 });
    const names = [...server.objects.keys(), ...(await typed.names())];
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

  const expired = /the credentials have expired[\s\S]*hint: Get new credentials/;
  const ended = "2026-01-02T03:04:05Z";
  const token = { AWS_ACCESS_KEY_ID: "temporary", AWS_SESSION_TOKEN: "sessiontoken654" };
  it.each([
    ["a wrong secret", { AWS_SECRET_ACCESS_KEY: "wrongsecret987" }, 1, /the credentials are not valid/],
    ["an unknown key", { AWS_ACCESS_KEY_ID: "nobody" }, 1, /the credentials are not valid/],
    ["a wrong token", { AWS_SESSION_TOKEN: "sessiontoken654" }, 1, /the credentials are not valid/],
    [
      "no credentials",
      { AWS_ACCESS_KEY_ID: undefined },
      1,
      /to sign requests[\s\S]*hint: Set AWS_ACCESS_KEY_ID/,
    ],
    [
      "attempts that are no number",
      { AWS_MAX_ATTEMPTS: "many" },
      2,
      /AWS_MAX_ATTEMPTS must be a whole number/,
    ],
    ["a profile that is not there", { AWS_PROFILE: "nobody" }, 2, /the profile nobody does not exist/],
    ["an expired credential", { AWS_CREDENTIAL_EXPIRATION: ended }, 1, expired],
    ["an expired token", token, 1, expired],
    [
      "a host that nobody knows",
      { AWS_ENDPOINT_URL: "http://none.invalid" },
      5,
      /Check the host name in http:\/\/none/,
    ],
    ["a host that is not there", { AWS_ENDPOINT_URL: "http://127.0.0.1:1" }, 5, /the connection failed/],
  ])("fails for %s", async (_, variables, code, words) => {
    server.keys.set("temporary", { secret: SECRET_KEY, token: "sessiontoken654", isExpired: true });
    setEnv(variables);
    expect(await run(`copy ${SOURCE} h.zarr`)).toMatchObject({ code, stdout: "", stderr: says(words) });
    const json = await run(`copy g.zarr ${TARGET} --json`);
    expect(json).toMatchObject({ code, stdout: "" });
    expect(JSON.parse(json.stderr).error).toMatchObject({ exitCode: code });
    await expectNothingLeft();
  });

  it.each(["copy s3://nowhere/g.zarr h.zarr", "copy g.zarr s3://nowhere/h.zarr", "info s3://nowhere/g.zarr"])(
    "that is not there ends %s",
    async (line) => {
      expect(await run(line)).toMatchObject({ code: 3, stderr: says("the bucket does not exist") });
      await expectNothingLeft();
    },
  );

  const late = ({ key }: S3Seen) => key === "g.zarr/t/3.1";
  const put = ({ key, method }: S3Seen) => key === "h.zarr/t/3.1" && method === "PUT";
  const denied = /key t\/3\.1.*the server denies access \(found 403 AccessDenied\)/;
  const waits = /^waiting \d.*g\.zarr\/t\/3\.1 in s3:\/\/bucket: [\s\S]*\nzarrflow: .*key t\/3\.1/;
  it.each<[string, string, string, S3Fault, number, RegExp]>([
    ["denies a key", SOURCE, "h.zarr", refuse(late, 403, "AccessDenied"), 1, denied],
    ["denies to write one", "g.zarr", TARGET, refuse(put, 403, "AccessDenied"), 1, denied],
    ["takes a token that expires", SOURCE, "h.zarr", refuse(late, 400, "ExpiredToken"), 1, /key t\/3\.1/],
    [
      "closes amid a body",
      SOURCE,
      "h.zarr",
      (response, seen) => late(seen) && closeAmid(response, 24),
      5,
      waits,
    ],
  ])("that %s amid a copy is told, and the copy goes on later", async (_, from, to, fault, code, words) => {
    server.keys.set("temporary", { secret: SECRET_KEY, token: "sessiontoken654" });
    setEnv({ AWS_MAX_ATTEMPTS: "3", ...token });
    server.fault = fault;
    const failed = await run(`copy ${from} ${to}`);
    expect(failed).toMatchObject({ code, stderr: says(words) });
    if (code === 5) expect(server.requests.filter(late)).toHaveLength(3);
    await expectContinued(failed.stderr);
  });

  it("that closes amid an upload is told, and the copy goes on later", async () => {
    setEnv({ AWS_MAX_ATTEMPTS: "3" });
    await mkdir(typed.at("g.zarr/long"));
    await writeFile(typed.at("g.zarr/long/value"), new Uint8Array(2e7));
    for (const target of [`${TARGET}.zip`, TARGET]) {
      server.fault = (response, { query }) => query.get("partNumber") === "2" && Boolean(response.destroy());
      const failed = await run(`copy g.zarr ${target}`);
      expect(failed).toMatchObject({ code: 5, stderr: says("zarrflow:") });
      await expectContinued(failed.stderr);
    }
  }, 60_000);

  it("in which another run takes the target over amid a copy", async () => {
    server.fault = (_, { key }) => {
      const now = new Date().toISOString();
      const record = { owner: "o", host: "elsewhere", pid: 1, begun: now, renewed: now };
      const lock = Buffer.from(JSON.stringify(record));
      if (key === "h.zarr/t/3.1") server.objects.set("h.zarr/.zarrflow-lock", lock);
      return false;
    };
    const taken = { code: 1, stderr: says(/another run took over the target.*process 1 on elsewhere/) };
    expect(await run(`copy g.zarr ${TARGET}`)).toMatchObject(taken);
    server.fault = undefined;
    const wait = { code: 1, stderr: says(/another run is writing to the target[\s\S]*hint: Wait for it/) };
    expect(await run(`copy g.zarr ${TARGET} --if-exists replace`)).toMatchObject(wait);
  });

  it("whose values change amid a copy differs", async () => {
    server.fault = (_, { key, method }) => {
      if (key === "h.zarr/t/0.0" && method === "GET") server.objects.set(key, Buffer.alloc(24));
      return false;
    };
    const differs = { code: 6, stderr: says(/key t\/0\.0/) };
    expect(await run(`copy g.zarr ${TARGET} --verify`)).toMatchObject(differs);
    await expectNothingLeft();
  });

  it("has secrets that are in no ledger and no report", async () => {
    // so many that the ledger is written before the end
    for (let i = 0; i < 900; i++) server.objects.set(`g.zarr/zz/${i}`, Buffer.from("x"));
    let ledger = "";
    server.fault = async (_, { key }) => {
      if (key !== "g.zarr/zz/99") return false;
      const control = (await typed.names()).find((name) => name.startsWith(".h.zarr.zarrflow-"));
      const file = typed.at(control ?? "none", "ledger.jsonl");
      while (ledger === "") {
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (existsSync(file)) ledger = await readFile(file, "utf8");
      }
      return false;
    };
    setEnv({ AWS_SESSION_TOKEN: "" });
    const copied = await run(`copy ${SOURCE} h.zarr --io 1 --report report.html`);
    expect(copied).toMatchObject({ code: 0 });
    expect(ledger).toContain('"key":"zz/100"');
    expectNoSecret(ledger, await typed.text("report.html"));
    await run(`copy ${SOURCE} ${TARGET} --dry-run --json`);
  });

  it("is read without credentials with --anonymous, and written with them", async () => {
    const seen = (key: string) => server.requests.filter((request) => request.key.startsWith(key));
    server.fault = (response, { key, method, query }) => {
      if (method === "GET" && key === "" && query.get("prefix")?.startsWith("g.zarr")) {
        const objects = [...server.objects].filter(([name]) => name.startsWith("g.zarr/"));
        const contents = objects.map(
          ([name, { length }]) => `<Contents><Key>${name}</Key><Size>${length}</Size></Contents>`,
        );
        response.end(`<ListBucketResult>${contents.join("")}</ListBucketResult>`);
        return true;
      }
      if (!key.startsWith("g.zarr")) return false;
      const value = server.objects.get(key);
      response.writeHead(value ? 200 : 404, { "content-length": value?.length ?? 0 });
      response.end(method === "HEAD" ? undefined : value);
      return true;
    };
    expect(await run(`copy ${SOURCE} ${TARGET} --anonymous`)).toMatchObject({ code: 0 });
    expect(seen("g.zarr").filter(({ headers }) => headers.authorization)).toEqual([]);
    expect(seen("h.zarr").filter(({ headers }) => !headers.authorization)).toEqual([]);
  });

  it("that says 403 for a missing key is read with --missing-403", async () => {
    const isMissing = ({ key, method }: S3Seen) => method !== "PUT" && key !== "" && !server.objects.has(key);
    server.fault = refuse(isMissing, 403, "AccessDenied");
    expect(await run(`info ${SOURCE}`)).toMatchObject({ code: 1 });
    expect(await run(`info ${SOURCE} --missing-403 --json`)).toMatchObject({ code: 0 });
  });

  it("with hundreds of arrays makes no runtime warn of a leak", async () => {
    const arrays = samples(2000);
    const made = { zarr_format: 2, shape: [2], chunks: [2], dtype: "|i1", compressor: null, fill_value: 0 };
    const array = Buffer.from(JSON.stringify({ ...made, order: "C", filters: null }));
    server.objects.set("many.zarr/.zgroup", Buffer.from('{"zarr_format": 2}'));
    for (let i = 0; i < arrays; i++) {
      server.objects.set(`many.zarr/a${i}/.zarray`, array);
      server.objects.set(`many.zarr/a${i}/0`, Buffer.of(1, 2));
    }
    const many = `s3://${BUCKET}/many.zarr`;
    const tree = await runCli(typed.cwd, "tree", many);
    expect(tree).toMatchObject({ code: 0, stderr: "" });
    expect(tree.stdout.split("\n")).toHaveLength(arrays + 2);
    for (const target of [[`s3://${BUCKET}/copy.zarr`], ["many.zarr", "--codec", "zstd"]]) {
      const copied = await runCli(typed.cwd, "copy", many, ...target, "--quiet");
      expect(copied).toMatchObject({ code: 0, stderr: "" });
    }
  }, 300_000);
});

it.each([0.3, 0.99])(
  "a zip that is cut short is reported as that, whatever is left of it (%d)",
  async (part) => {
    await typed.output("copy g.zarr g.zip");
    const { length } = await readFile(typed.at("g.zip"));
    await truncate(typed.at("g.zip"), Math.floor(part * length));
    for (const line of ["copy g.zip h.zarr", "info g.zip/t", "validate g.zip"]) {
      const { code, stdout, stderr } = await run(line);
      expect(code).toBe(1);
      expect(stdout + stderr).toMatch(/no zip directory at the end: this is not a zip, or it is truncated/);
    }
    expect(await typed.names()).toEqual(["g.zarr", "g.zip"]);
  },
);

it.runIf(process.platform === "linux").each([
  ["chunks", "rechunk g.zarr h.zarr --chunks t:8,6 --codec none"],
  ["entries of a zip", "copy g.zarr h.zip"],
  ["values as they are", "copy g.zarr h.zarr"],
])("a disk that is full is reported for %s, and the run goes on where there is room", async (_, line) => {
  await mkdir(typed.at("g.zarr/notes"));
  await writeFile(typed.at("g.zarr/notes/long"), new Uint8Array(20_000).fill(1));
  // as one whose files may have so many bytes
  const limited = ["--fsize=8192", process.execPath, command, ...line.split(" ")];
  const env = { ...process.env, NO_COLOR: "1" };
  const child = spawn("prlimit", limited, { cwd: typed.cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  const [code, stderr] = await Promise.all([exitOf(child), text(child.stderr)]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: says("the file exceeds the size limit of the file system"),
  });
  await typed.output(continuing(stderr).join(" "));
  expect(await typed.names()).toEqual(["g.zarr", line.split(" ")[2]]);
});

it("a web server that closes amid a body is asked again, and reported when it stays so", async () => {
  const values = new Map<string, Uint8Array>();
  for (const name of await typed.names("g.zarr/t"))
    values.set(name, await readFile(typed.at("g.zarr/t", name)));
  const server = await serveValues(values);
  onTestFinished(() => server.close());
  let left = 2;
  const closing: ValueServer["faults"][number] = (response, { url }) => {
    server.faults.push(closing);
    return url.endsWith("1.0") && left-- > 0 && closeAmid(response, 24);
  };
  server.faults.push(closing);
  await typed.output(`copy ${server.url} h.zarr`);
  expect(await typed.text("h.zarr/1.0")).toEqual(await typed.text("g.zarr/t/1.0"));
  left = Number.POSITIVE_INFINITY;
  const failed = /^waiting \d[\s\S]*\nzarrflow: .*1\.0.*the connection failed/;
  expect(await run(`copy ${server.url} i.zarr`)).toMatchObject({ code: 5, stderr: says(failed) });
  left = 0;
  await typed.output(`copy ${server.url} i.zarr`);
  expect(await typed.names()).toEqual(["g.zarr", "h.zarr", "i.zarr"]);
});
