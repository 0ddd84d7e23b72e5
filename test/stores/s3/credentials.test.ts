import { writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { findCredentials } from "../../../src/stores/s3/credential-chain.ts";
import { profileSettings } from "../../../src/stores/s3/credential-files.ts";
import {
  Credentials,
  credentialsOf,
  parseCredentials,
  type S3Credentials,
  type Variables,
} from "../../../src/stores/s3/credentials.ts";
import { isZarrflowError } from "../../../src/util/errors.ts";
import { withoutPauses } from "../../support/no-pauses.ts";
import { until } from "../../support/until.ts";
import { listening } from "../support.ts";
import { temporaryFolder } from "../temporary-folder.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

withoutPauses();
afterEach(() => void vi.useRealTimers());

const folder = temporaryFolder();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DENIED = { code: "access-denied" };
const keys = { accessKeyId: "A", secretAccessKey: "B" };
const VARIABLES = { AWS_ACCESS_KEY_ID: "A", AWS_SECRET_ACCESS_KEY: "B" };

/** A service that gives credentials, or does not. */
async function serve(answer: (asked: Asked, response: ServerResponse) => void) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url: path = "", headers } = request;
    const one = { method, path, headers, body: await text(request) };
    asked.push(one);
    answer(one, response);
  });
  return { url: await listening(server), asked };
}

async function fetched(env: Variables, profile: Variables = {}): Promise<S3Credentials> {
  const source = findCredentials({ env, profile });
  if (typeof source !== "function") throw new Error("these are not fetched");
  return source();
}

/** What asking fails with; nothing that any service said or was told is in it. */
async function failureOf(env: Variables, profile: Variables = {}) {
  const error = await fetched(env, profile).catch((failure) => failure);
  if (!isZarrflowError(error)) throw new Error("no error of ours", { cause: error });
  expect(JSON.stringify([error.message, error.details])).not.toMatch(/hidden/);
  return error;
}

const json = (n: number, until: number) =>
  JSON.stringify({
    Code: "Success",
    AccessKeyId: `hidden-key-${n}`,
    SecretAccessKey: `hidden-secret-${n}`,
    Token: `hidden-token-${n}`,
    Expiration: new Date(until).toISOString(),
  });

describe("what is configured", () => {
  const TIME = "2030-01-02T03:04:05Z";

  it.each([
    [VARIABLES, keys],
    [
      { ...VARIABLES, AWS_SESSION_TOKEN: "C", AWS_CREDENTIAL_EXPIRATION: TIME },
      { ...keys, sessionToken: "C", expiration: new Date(TIME) },
    ],
    [{ AWS_ACCESS_KEY_ID: "A" }, undefined],
  ])("is taken from variables: %j", (variables, expected) => {
    expect(credentialsOf(variables)).toEqual(expected);
  });

  it("is taken from the profile else, never from both together", () => {
    const profile = { ...VARIABLES, AWS_SESSION_TOKEN: "of the profile" };
    expect(findCredentials({ env: VARIABLES, profile })).toEqual(keys);
    expect(findCredentials({ env: {}, profile })).toEqual({ ...keys, sessionToken: "of the profile" });
  });

  it("is read from what services and programs write, and nothing of what they should not is shown", () => {
    const both = '"AccessKeyId": "A", "SecretAccessKey": "B"';
    const parse = (text: string) => () => parseCredentials(text, "the service");
    expect(parse(`{${both}}`)()).toEqual(keys);
    const more = { ...keys, sessionToken: "C", expiration: new Date(TIME) };
    expect(parse(`{${both}, "Token": "C", "Expiration": "${TIME}"}`)()).toEqual(more);
    const partly = ['{"AccessKeyId": "hidden"', '{"AccessKeyId": "hidden", "SecretAccessKey": 1}'];
    for (const text of ["", "null", "[]", "{}", ...partly, `{${both}, "Expiration": "hidden"}`]) {
      expect(parse(text), text).toThrow(expect.objectContaining(DENIED));
      expect(parse(text), text).not.toThrow(/hidden/);
    }
  });

  it.each(["1", "true", "YES"])("AWS_NO_SIGN_REQUEST=%s signs nothing", (flag) => {
    const env = { ...VARIABLES, AWS_NO_SIGN_REQUEST: flag };
    expect(findCredentials({ env, profile: {} })).toBe("anonymous");
  });

  it.each([
    { source_profile: "base", AWS_ROLE_ARN: "r" },
    { credential_source: "Ec2InstanceMetadata", AWS_ROLE_ARN: "r" },
    { sso_session: "s" },
    { sso_start_url: "https://x" },
  ])("a profile with %j needs another program", (profile) => {
    const find = () => findCredentials({ env: { AWS_PROFILE: "work" }, profile });
    const hint = expect.stringContaining("aws configure export-credentials --profile work");
    expect(find).toThrow(expect.objectContaining({ code: "unsupported-operation", details: { hint } }));
  });

  it("is lacking where nothing is configured, and the machine may not be asked", () => {
    const find = () => findCredentials({ env: { AWS_EC2_METADATA_DISABLED: "true" }, profile: {} });
    expect(find).toThrow(expect.objectContaining(DENIED));
  });
});

describe("profileSettings", () => {
  const config = `
# comment
[default]
region = eu-north-1
credential_process = get it
s3 =
  endpoint_url = http://nested
role_arn = r
[profile science]
region=us-west-2
endpoint_url = http://127.0.0.1:9000
aws_access_key_id = from-config
[profile  spaced ]
region = x
[profile constructor]
__proto__ = x
`;
  const credentials = `
[science]
aws_access_key_id = A
aws_secret_access_key = b=c/d
[profile science]
aws_session_token = not this one
[default]
aws_access_key_id = D
`;
  const settings = (name: string) => profileSettings(name, { config, credentials });

  it("takes settings by the names of the variables, the credentials file's first, and no nested ones", () => {
    expect(settings("science")).toEqual({
      AWS_REGION: "us-west-2",
      AWS_ENDPOINT_URL: "http://127.0.0.1:9000",
      AWS_ACCESS_KEY_ID: "A",
      AWS_SECRET_ACCESS_KEY: "b=c/d",
    });
    expect(settings("default")).toEqual({
      AWS_REGION: "eu-north-1",
      AWS_ROLE_ARN: "r",
      AWS_ACCESS_KEY_ID: "D",
      credential_process: "get it",
    });
  });

  it("knows blanks around names, and nothing of profiles that are not there", () => {
    expect(settings("spaced")).toEqual({ AWS_REGION: "x" });
    expect(settings("none")).toBeUndefined();
    expect(settings("constructor")).toEqual({});
  });
});

describe("Credentials", () => {
  /** Credentials whose source gives, each time it is asked, what `give` does, or fails where it gives nothing. */
  const source = (give: (call: number) => S3Credentials | undefined) => {
    const fetch = vi.fn(async () => {
      const given = give(fetch.mock.calls.length);
      if (given === undefined) throw new Error("no network");
      return given;
    });
    const all = new Credentials(fetch);
    return { all, calls: () => fetch.mock.calls.length };
  };
  const until = (time: number) => ({ ...keys, expiration: new Date(time) });

  it("are fetched by one call for all who wait, and again after a failure", async () => {
    const { all, calls } = source((call) => (call === 1 ? undefined : keys));
    await expect(all.current()).rejects.toThrow("no network");
    expect(await Promise.all([all.current(), all.current(), all.current()])).toEqual([keys, keys, keys]);
    await all.current();
    expect(calls()).toBe(2);
  });

  it("that expire are fetched anew before they do, by one call", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    const { all, calls } = source((call) => until(call * HOUR));
    await all.current();
    vi.setSystemTime(54 * MINUTE);
    expect(await all.current()).toEqual(until(HOUR));
    vi.setSystemTime(55 * MINUTE);
    expect(await Promise.all([all.current(), all.current()])).toEqual([until(2 * HOUR), until(2 * HOUR)]);
    expect(calls()).toBe(2);
  });

  it("that expire stay in use while they work, where others cannot be had, or are no better", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    const { all, calls } = source((call) => (call === 1 ? until(HOUR) : undefined));
    await all.current();
    for (const [minutes, asked] of [
      [56, 2],
      [56, 2],
      [57, 3],
    ] as const) {
      vi.setSystemTime(minutes * MINUTE);
      expect(await all.current()).toEqual(until(HOUR));
      expect(calls()).toBe(asked);
    }
    vi.setSystemTime(HOUR);
    await expect(all.current()).rejects.toThrow("no network");
    const short = source(() => until(HOUR + 2 * MINUTE));
    for (let i = 0; i < 9; i++) await short.all.current();
    expect(short.calls()).toBe(1);
  });

  it("that have expired are refused", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    const fixed = new Credentials(until(MINUTE));
    expect(await fixed.current()).toEqual(until(MINUTE));
    vi.setSystemTime(MINUTE);
    const expired = { ...DENIED, reason: "the credentials have expired" };
    for (const all of [fixed, new Credentials(async () => until(MINUTE))])
      await expect(all.current()).rejects.toMatchObject(expired);
  });
});

describe("an instance", () => {
  async function machine(answer: (n: number) => [number, string]) {
    let n = 0;
    const answerTo = ({ path, method, headers }: Asked): [number, string] => {
      if (path === "/latest/api/token") return [method === "PUT" ? 200 : 405, "token"];
      if (headers["x-aws-ec2-metadata-token"] !== "token") return [401, ""];
      return path.endsWith("/security-credentials/") ? [200, "my role\n"] : answer(++n);
    };
    const { url, asked } = await serve((one, response) => {
      const [status, body] = answerTo(one);
      response.writeHead(status).end(body);
    });
    return { env: { AWS_EC2_METADATA_SERVICE_ENDPOINT: url }, asked };
  }

  it("gives those of its role, anew before they expire, to all stores, and is asked again when it fails for now", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { env, asked } = await machine((n) => (n === 2 ? [503, ""] : [200, json(n, Date.now() + HOUR)]));
    const first = await fetched(env);
    expect(first).toMatchObject({ accessKeyId: "hidden-key-1", sessionToken: "hidden-token-1" });
    expect(asked.map(({ path }) => path)).toEqual([
      "/latest/api/token",
      "/latest/meta-data/iam/security-credentials/",
      "/latest/meta-data/iam/security-credentials/my",
    ]);
    expect(await fetched(env)).toBe(first);
    vi.setSystemTime(Date.now() + 56 * MINUTE);
    expect(await fetched(env)).toMatchObject({ accessKeyId: "hidden-key-3" });
  });

  it("without a role gives none", async () => {
    const { env } = await machine(() => [404, "hidden"]);
    const hint = expect.stringMatching(/AWS_ACCESS_KEY_ID.*--anonymous/);
    expect(await failureOf(env)).toMatchObject({ ...DENIED, details: { found: 404, hint } });
    const broken = await machine(() => [200, '{"Code": "Failed", "Message": "hidden"}']);
    expect(await failureOf(broken.env)).toMatchObject(DENIED);
    const old = await machine((n) => [200, json(n, Date.now() - 1)]);
    expect(await failureOf(old.env)).toMatchObject({ reason: "the credentials have expired" });
  });

  it("that never answers says how to give credentials", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { url, asked } = await serve(() => {});
    const failure = failureOf({ AWS_EC2_METADATA_SERVICE_ENDPOINT: url });
    await until(() => asked.length === 1);
    vi.advanceTimersByTime(1000);
    expect(await failure).toMatchObject({
      ...DENIED,
      reason: "there are no credentials to sign requests",
      details: { hint: expect.stringContaining("AWS_PROFILE") },
    });
  });
});

describe("a container", () => {
  it("gives those of its role to whoever has the token of this moment", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let n = 0;
    const { url, asked } = await serve((_, response) => response.end(json(++n, Date.now() + HOUR)));
    const file = join(folder.path, "token");
    const env = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1?id=1`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
    };
    for (const round of [1, 2]) {
      await writeFile(file, `hidden-${round}\n`);
      expect(await fetched(env)).toMatchObject({ accessKeyId: `hidden-key-${round}` });
      vi.setSystemTime(Date.now() + HOUR);
    }
    expect(asked.map(({ path, headers }) => `${path} ${headers.authorization}`)).toEqual([
      "/v1?id=1 hidden-1",
      "/v1?id=1 hidden-2",
    ]);
  });

  it("that refuses gives none, and one elsewhere is not asked", async () => {
    const { url } = await serve((_, response) => response.writeHead(403).end("hidden"));
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: url, AWS_CONTAINER_AUTHORIZATION_TOKEN: "hidden" };
    expect(await failureOf(env)).toMatchObject({ ...DENIED, details: { found: 403 } });
    const places = [
      "http://example.org/x",
      "file:///etc/passwd",
      "http://169.254.169.254.example.org/",
      "no",
    ];
    const hint = expect.stringContaining("https://");
    for (const AWS_CONTAINER_CREDENTIALS_FULL_URI of places)
      expect(await failureOf({ AWS_CONTAINER_CREDENTIALS_FULL_URI })).toMatchObject({
        ...DENIED,
        details: { hint },
      });
  });
});

describe("a web identity", () => {
  const answer = (n: number) => `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult>
    <Credentials><AccessKeyId>hidden-key-${n}</AccessKeyId><SecretAccessKey>hidden-secret</SecretAccessKey>
    <SessionToken>hidden-token</SessionToken><Expiration>${new Date(Date.now() + HOUR).toISOString()}</Expiration>
    </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
  const environment = async (url: string) => {
    const file = join(folder.path, "web-token");
    await writeFile(file, "hidden+jwt/\n");
    const role = { AWS_ROLE_ARN: "arn:aws:iam::1:role/r", AWS_WEB_IDENTITY_TOKEN_FILE: file };
    return { AWS_ENDPOINT_URL_STS: url, ...role };
  };

  it("becomes a role, anew before its credentials expire, also where the service fails for now", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let n = 0;
    const { url, asked } = await serve((_, response) =>
      ++n === 2 ? response.writeHead(503).end() : response.end(answer(n)),
    );
    const env = await environment(url);
    expect(await fetched(env)).toMatchObject({ accessKeyId: "hidden-key-1", sessionToken: "hidden-token" });
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toMatchObject({
      Action: "AssumeRoleWithWebIdentity",
      RoleArn: "arn:aws:iam::1:role/r",
      WebIdentityToken: "hidden+jwt/",
    });
    expect(asked[0]?.path).toBe("/");
    vi.setSystemTime(Date.now() + 56 * MINUTE);
    expect(await fetched(env)).toMatchObject({ accessKeyId: "hidden-key-3" });
  });

  it.each([
    [400, "ExpiredTokenException", "the token of the web identity has expired"],
    [403, "AccessDenied", "the token service returned no credentials"],
    [400, "InvalidIdentityToken", "the token service returned no credentials"],
  ])("%i %s: %s", async (status, code, reason) => {
    const body = `<Error><Code>${code}</Code><Message>hidden</Message></Error>`;
    const { url } = await serve((_, response) => response.writeHead(status).end(body));
    const failure = { ...DENIED, reason, details: { found: `${status} ${code}` } };
    expect(await failureOf(await environment(url))).toMatchObject(failure);
  });

  it("without its token is an error that names the file", async () => {
    const AWS_WEB_IDENTITY_TOKEN_FILE = join(folder.path, "no");
    const env = { ...(await environment("http://127.0.0.1:1")), AWS_WEB_IDENTITY_TOKEN_FILE };
    expect(await failureOf(env)).toMatchObject({ details: { store: `file ${AWS_WEB_IDENTITY_TOKEN_FILE}` } });
  });
});

it("a credential_process writes credentials to its standard output, and what it says else is not shown", async () => {
  const file = join(folder.path, "credentials.json");
  await writeFile(file, json(1, Date.now() + HOUR));
  const found = await fetched({}, { credential_process: `cat "${file}"` });
  expect(found).toMatchObject({ accessKeyId: "hidden-key-1" });
  const failing = { credential_process: `echo hidden; echo hidden >&2; exit 3; ${folder.path}` };
  expect(await failureOf({}, failing)).toMatchObject(DENIED);
  const reason = "the profile's credential_process returned no credentials";
  const talking = { credential_process: `echo hidden ${folder.path}` };
  expect(await failureOf({}, talking)).toMatchObject({ ...DENIED, reason });
});
