import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findCredentials } from "../../../src/stores/s3/credentials/chain.ts";
import type { S3Credentials, Variables } from "../../../src/stores/s3/credentials.ts";
import { isZarrflowError } from "../../../src/util/errors.ts";
import { withoutPauses } from "../../support/no-pauses.ts";
import { until } from "../../support/until.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

withoutPauses();

const closings: (() => void)[] = [];
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "zarrflow-credentials-"));
});
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closings.splice(0)) close();
  await rm(folder, { recursive: true });
});

/** A service that gives credentials, or does not. */
async function serve(answer: (asked: Asked, response: ServerResponse) => void) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url: path = "", headers } = request;
    const one = { method, path, headers, body: await text(request) };
    asked.push(one);
    answer(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closings.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function fetched(env: Variables, profile: Variables = {}): Promise<S3Credentials> {
  const source = findCredentials({ env, profile });
  if (typeof source !== "function") throw new Error("these are not fetched");
  return source();
}

/** What asking fails with; nothing that any service said or was told is in it. */
async function failureOf(env: Variables, profile: Variables = {}) {
  const error = await fetched(env, profile).then(
    () => undefined,
    (failure) => failure,
  );
  if (!isZarrflowError(error)) throw new Error("no error of ours", { cause: error });
  expect(JSON.stringify([error.message, error.details])).not.toMatch(/hidden/);
  return error;
}

const HOUR = 3_600_000;
const json = (n: number, until: number) =>
  JSON.stringify({
    Code: "Success",
    AccessKeyId: `hidden-key-${n}`,
    SecretAccessKey: `hidden-secret-${n}`,
    Token: `hidden-token-${n}`,
    Expiration: new Date(until).toISOString(),
  });

describe("what is configured", () => {
  const keys = { AWS_ACCESS_KEY_ID: "A", AWS_SECRET_ACCESS_KEY: "B" };
  const accessKeys = { accessKeyId: "A", secretAccessKey: "B" };

  it("is taken from variables, then from the profile, never of both together", () => {
    const profile = { ...keys, AWS_SESSION_TOKEN: "of the profile" };
    expect(findCredentials({ env: keys, profile })).toEqual(accessKeys);
    expect(findCredentials({ env: {}, profile })).toEqual({ ...accessKeys, sessionToken: "of the profile" });
  });

  it.each(["1", "true", "YES"])("AWS_NO_SIGN_REQUEST=%s signs nothing", (flag) => {
    expect(findCredentials({ env: { ...keys, AWS_NO_SIGN_REQUEST: flag }, profile: {} })).toBe("anonymous");
  });

  it.each([
    { source_profile: "base", AWS_ROLE_ARN: "r" },
    { credential_source: "Ec2InstanceMetadata", AWS_ROLE_ARN: "r" },
    { sso_session: "s" },
    { sso_start_url: "https://x" },
  ])("a profile with %j needs another program", (profile) => {
    expect(() => findCredentials({ env: { AWS_PROFILE: "work" }, profile })).toThrow(
      expect.objectContaining({
        code: "unsupported-operation",
        details: { hint: expect.stringContaining("aws configure export-credentials --profile work") },
      }),
    );
  });

  it("is lacking where nothing is configured, and the machine may not be asked", () => {
    const ask = () => findCredentials({ env: { AWS_EC2_METADATA_DISABLED: "true" }, profile: {} });
    expect(ask).toThrow(expect.objectContaining({ code: "access-denied" }));
  });
});

describe("an instance", () => {
  async function machine(answer: (asked: Asked, n: number) => [number, string]) {
    let n = 0;
    const { url, asked } = await serve((one, response) => {
      const [status, body] =
        one.path === "/latest/api/token"
          ? [one.method === "PUT" ? 200 : 405, "token"]
          : one.headers["x-aws-ec2-metadata-token"] !== "token"
            ? [401, ""]
            : one.path.endsWith("/security-credentials/")
              ? [200, "my role\n"]
              : answer(one, ++n);
      response.writeHead(status).end(body);
    });
    return { env: { AWS_EC2_METADATA_SERVICE_ENDPOINT: url }, asked };
  }

  it("gives those of its role, anew before they expire", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { env, asked } = await machine((_, n) => [200, json(n, Date.now() + HOUR)]);
    const first = await fetched(env);
    expect(first).toMatchObject({ accessKeyId: "hidden-key-1", sessionToken: "hidden-token-1" });
    expect(asked.map(({ path }) => path)).toEqual([
      "/latest/api/token",
      "/latest/meta-data/iam/security-credentials/",
      "/latest/meta-data/iam/security-credentials/my",
    ]);
    // another store shares them
    expect(await fetched(env)).toBe(first);
    vi.setSystemTime(Date.now() + 56 * 60_000);
    expect(await fetched(env)).toMatchObject({ accessKeyId: "hidden-key-2" });
    expect(asked).toHaveLength(6);
  });

  it("is asked again when it fails for now", async () => {
    const { env } = await machine((_, n) => (n < 3 ? [503, ""] : [200, json(n, Date.now() + HOUR)]));
    expect(await fetched(env)).toMatchObject({ accessKeyId: "hidden-key-3" });
  });

  it("without a role gives none", async () => {
    const { env } = await machine(() => [404, "hidden"]);
    expect(await failureOf(env)).toMatchObject({
      code: "access-denied",
      details: { found: 404, hint: expect.stringMatching(/AWS_ACCESS_KEY_ID.*--anonymous/) },
    });
    const broken = await machine(() => [200, '{"Code": "Failed", "Message": "hidden"}']);
    expect(await failureOf(broken.env)).toMatchObject({ code: "access-denied" });
    const old = await machine((_, n) => [200, json(n, Date.now() - 1)]);
    expect(await failureOf(old.env)).toMatchObject({ reason: "the credentials have expired" });
  });

  it("that never answers says how to give credentials", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { url, asked } = await serve(() => {});
    const failure = failureOf({ AWS_EC2_METADATA_SERVICE_ENDPOINT: url });
    await until(() => asked.length === 1);
    vi.advanceTimersByTime(1000);
    expect(await failure).toMatchObject({
      code: "access-denied",
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
    const file = join(folder, "token");
    const env = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1?id=1`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
    };
    await writeFile(file, "hidden-1\n");
    expect(await fetched(env)).toMatchObject({ accessKeyId: "hidden-key-1" });
    await writeFile(file, "hidden-2");
    vi.setSystemTime(Date.now() + HOUR);
    expect(await fetched(env)).toMatchObject({ accessKeyId: "hidden-key-2" });
    expect(asked.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/v1?id=1", "hidden-1"],
      ["/v1?id=1", "hidden-2"],
    ]);
  });

  it("that refuses, or sends elsewhere, gives none", async () => {
    const { url } = await serve((_, response) => response.writeHead(403).end("hidden"));
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: url, AWS_CONTAINER_AUTHORIZATION_TOKEN: "hidden" };
    expect(await failureOf(env)).toMatchObject({ code: "access-denied", details: { found: 403 } });
  });

  it.each(["http://example.org/x", "file:///etc/passwd", "http://169.254.169.254.example.org/", "nothing"])(
    "%s is not asked",
    async (uri) => {
      expect(await failureOf({ AWS_CONTAINER_CREDENTIALS_FULL_URI: uri })).toMatchObject({
        code: "access-denied",
        details: { hint: expect.stringContaining("https://") },
      });
    },
  );
});

describe("a web identity", () => {
  const answer = (n: number) => `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult>
    <Credentials><AccessKeyId>hidden-key-${n}</AccessKeyId><SecretAccessKey>hidden-secret</SecretAccessKey>
    <SessionToken>hidden-token</SessionToken><Expiration>${new Date(Date.now() + HOUR).toISOString()}</Expiration>
    </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
  const environment = async (url: string) => {
    const file = join(folder, "web-token");
    await writeFile(file, "hidden+jwt/\n");
    return {
      AWS_ENDPOINT_URL_STS: url,
      AWS_ROLE_ARN: "arn:aws:iam::1:role/r",
      AWS_WEB_IDENTITY_TOKEN_FILE: file,
    };
  };

  it("becomes a role, anew before its credentials expire", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    let n = 0;
    const { url, asked } = await serve((_, response) => response.end(answer(++n)));
    const env = await environment(url);
    expect(await fetched(env)).toMatchObject({ accessKeyId: "hidden-key-1", sessionToken: "hidden-token" });
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toMatchObject({
      Action: "AssumeRoleWithWebIdentity",
      RoleArn: "arn:aws:iam::1:role/r",
      WebIdentityToken: "hidden+jwt/",
    });
    expect(asked[0]?.path).toBe("/");
    vi.setSystemTime(Date.now() + 56 * 60_000);
    expect(await fetched(env)).toMatchObject({ accessKeyId: "hidden-key-2" });
  });

  it.each([
    [400, "ExpiredTokenException", "the token of the web identity has expired"],
    [403, "AccessDenied", "the token service returns no credentials"],
    [400, "InvalidIdentityToken", "the token service returns no credentials"],
  ])("%i %s: %s", async (status, code, reason) => {
    const { url } = await serve((_, response) =>
      response.writeHead(status).end(`<Error><Code>${code}</Code><Message>hidden</Message></Error>`),
    );
    expect(await failureOf(await environment(url))).toMatchObject({
      code: "access-denied",
      reason,
      details: { found: `${status} ${code}` },
    });
  });

  it("waits for a service that fails for now", async () => {
    let n = 0;
    const { url } = await serve((_, response) =>
      ++n < 3 ? response.writeHead(503).end() : response.end(answer(n)),
    );
    expect(await fetched(await environment(url))).toMatchObject({ accessKeyId: "hidden-key-3" });
  });

  it("without its token is an error that names the file", async () => {
    const env = {
      ...(await environment("http://127.0.0.1:1")),
      AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, "no"),
    };
    expect(await failureOf(env)).toMatchObject({ details: { store: `file ${join(folder, "no")}` } });
  });
});

describe("a credential_process", () => {
  it("writes them to its standard output", async () => {
    const file = join(folder, "credentials.json");
    await writeFile(file, json(1, Date.now() + HOUR));
    expect(await fetched({}, { credential_process: `cat "${file}"` })).toMatchObject({
      accessKeyId: "hidden-key-1",
    });
  });

  it("that fails shows nothing of what it said", async () => {
    const failing = { credential_process: `echo hidden; echo hidden >&2; exit 3; ${folder}` };
    expect(await failureOf({}, failing)).toMatchObject({ code: "access-denied" });
    expect(await failureOf({}, { credential_process: `echo hidden ${folder}` })).toMatchObject({
      code: "access-denied",
      reason: "the profile's credential_process returns no credentials",
    });
  });
});
