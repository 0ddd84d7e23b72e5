// @module-tag slow
import type { ServerResponse } from "node:http";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Retry } from "../../../src/stores/remote/retry-events.ts";
import { S3Store, type S3StoreOptions } from "../../../src/stores/s3.ts";
import { all, keysOf } from "../../support/consume.ts";
import { withoutPauses } from "../../support/no-pauses.ts";
import { settled, until } from "../../support/until.ts";
import { ACCESS_KEY, BUCKET, type S3Server, SECRET_KEY, serveBucket } from "../s3-server.ts";

withoutPauses();

const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
const bytes = new Uint8Array(3);
const MIB = 2 ** 20;

let server: S3Server;
beforeEach(async () => {
  server = await serveBucket();
});
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

function open(more: Partial<S3StoreOptions> = {}): S3Store {
  return new S3Store({
    bucket: BUCKET,
    endpoint: server.endpoint,
    credentials,
    retry: { attempts: 1 },
    ...more,
  });
}

/** Answers every request so. */
function always(status: number, body = ""): void {
  server.fault = (response) => {
    response.writeHead(status).end(body);
    return true;
  };
}

function page(names: readonly string[], token = ""): string {
  const objects = names.map((name) => `<Contents><Key>${name}</Key><Size>1</Size></Contents>`);
  const next = token && `<NextContinuationToken>${token}</NextContinuationToken>`;
  return `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${token !== ""}</IsTruncated>${next}${objects.join("")}</ListBucketResult>`;
}

/** Sends without end, until nobody listens any more. */
function sendEndlessly(response: ServerResponse, text: string): void {
  const piece = text.repeat(Math.ceil(MIB / text.length));
  const send = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", send);
  send();
}

describe("listings", () => {
  it("that are cut off are asked for again", async () => {
    for (const key of ["a", "b", "c"]) server.objects.set(key, Buffer.from("x"));
    server.faults.push((response) => {
      response.end(page(["a", "b"]).replace(/<Contents><Key>b.*/s, ""));
      return true;
    });
    expect(await keysOf(open({ retry: { attempts: 2, firstWait: "1ms" } }))).toEqual(["a", "b", "c"]);
    always(200);
    await expect(keysOf(open())).rejects.toMatchObject({ code: "short-read" });
  });

  it.each([
    ["go in circles", page(["p/a"], "again"), /order|again/],
    ["are empty, and go in circles", page([], "again"), /again/],
    [
      "go on, and do not tell where",
      page(["p/a"], "on").replace(/<Next.*Token>/, ""),
      /no continuation token/,
    ],
    ["have no order", page(["p/b", "p/a"]), /order/],
    ["name what was not asked for", page(["q/a"]), /not asked for/],
    ["leave the root", page(["xp/../etc"]), /not asked for/],
    ["name what is no text", page(["p/%ff"]), /none/],
  ])("that %s are refused", async (_, body, reason) => {
    always(200, body);
    await expect(keysOf(open({ prefix: "p" }))).rejects.toMatchObject({ code: "corrupt-store", reason });
  });

  it("of uploads that go in circles are refused", async () => {
    const next = "<NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>1</NextUploadIdMarker>";
    always(
      200,
      `<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>${next}</ListMultipartUploadsResult>`,
    );
    const reader = open().listUploads("").getReader();
    await expect(reader.read()).rejects.toMatchObject({ code: "corrupt-store", reason: /again/ });
  });

  it("tell no sizes that are none", async () => {
    always(200, page(["a"]).replace("<Size>1<", "<Size>-1e400<"));
    expect(await all(open().list(""))).toEqual([{ key: "a" }]);
  });
});

describe("answers", () => {
  it("without end are given up", async () => {
    server.fault = (response) => {
      response.writeHead(200);
      sendEndlessly(response, "<Contents><Key>a</Key></Contents>");
      return true;
    };
    await expect(keysOf(open())).rejects.toMatchObject({ code: "resource-limit" });
    server.fault = (response) => {
      response.writeHead(500);
      sendEndlessly(response, "<Error>");
      return true;
    };
    await expect(open().get("a")).rejects.toMatchObject({ code: "transient", details: { found: /500/ } });
  });

  it.each([404, 412, 416])("%i to what is written is a failure", async (status) => {
    const store = open();
    const upload = await store.openWriter("long");
    await upload.write(new Uint8Array(8 * MIB));
    await upload.write(bytes);
    server.fault = (response, { method, key }) => {
      if (key === "" || (method !== "PUT" && method !== "POST")) return false;
      response.writeHead(status).end("<html>no such page</html>");
      return true;
    };
    await expect(store.set("a", bytes)).rejects.toMatchObject({ details: { key: "a" } });
    const writer = await store.openWriter("b");
    await writer.write(bytes);
    await expect(writer.commit()).rejects.toMatchObject({ details: { key: "b" } });
    await expect(upload.commit()).rejects.toMatchObject({ details: { key: "long" } });
    if (status !== 412) {
      await expect(store.setIfAbsent("c", bytes)).rejects.toMatchObject({ details: { key: "c" } });
    }
  });

  it("to a deletion that are cut, or name no key, are no success", async () => {
    const store = open({ retry: { attempts: 3, firstWait: "1ms" } });
    await store.set("a", bytes);
    server.faults.push(
      (response) => !!response.end("<DeleteResult><Err"),
      (response) => !!response.end("<DeleteResult><Error><Code>InternalError</Code></Error></DeleteResult>"),
    );
    await store.deleteMany(["a"]);
    expect(server.objects.size).toBe(0);
    expect(server.requests.filter(({ query }) => query.has("delete"))).toHaveLength(3);
  });

  it("that forbid to list are reported, also where a 403 stands for a missing key", async () => {
    always(403, "<Error><Code>AccessDenied</Code></Error>");
    const store = open({ missing403: true });
    expect(await store.get("a")).toBeUndefined();
    await expect(keysOf(store)).rejects.toMatchObject({ code: "access-denied" });
  });
});

describe("errors of the server", () => {
  it.each([
    [400, "ExpiredToken", "the credentials have expired"],
    [403, "RequestTimeTooSkewed", "the clocks of this machine and the server differ"],
    [403, "AccessDenied", "--missing-403"],
    [403, "AccessDenied", "AWS_REQUEST_PAYER=requester"],
  ])("%i %s: %s, also where HEAD comes first", async (status, code, words) => {
    server.fault = (response, { method }) => {
      response.writeHead(status).end(method === "HEAD" ? undefined : `<Error><Code>${code}</Code></Error>`);
      return true;
    };
    for (const ask of [() => open().get("a"), ...(status === 403 ? [() => open().size("a")] : [])]) {
      const error = await ask().catch((failure) => failure);
      expect(`${error.message} ${error.details.hint}`).toContain(words);
      expect(error.code).toBe("access-denied");
    }
  });

  it("name the region where the bucket is said to be", async () => {
    always(301, "<Error><Code>PermanentRedirect</Code><Region>Mars-1</Region></Error>");
    await expect(open().get("a")).rejects.toMatchObject({
      code: "invalid-option",
      details: { hint: expect.stringContaining("AWS_REGION=Mars-1") },
    });
  });
});

describe("regions", () => {
  it("are learned once, by all requests that are under way", async () => {
    const elsewhere = await serveBucket({ region: "eu-west-3" });
    const waiting: (() => void)[] = [];
    elsewhere.fault = async () => {
      // the first answers come when all requests were sent
      if (waiting.length < 4) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length === 4) for (const answer of waiting) answer();
        });
      }
      return false;
    };
    const store = open({ endpoint: elsewhere.endpoint });
    const missing = await Promise.all(["a", "b", "c", "d"].map((key) => store.get(key)));
    expect(missing).toEqual([undefined, undefined, undefined, undefined]);
    expect(elsewhere.requests).toHaveLength(8);
    await elsewhere.close();
  });

  it("are not looked for without end", async () => {
    server.fault = (response) => {
      const headers = { "x-amz-bucket-region": `region-${server.requests.length}` };
      response.writeHead(301, headers).end("<Error><Code>PermanentRedirect</Code></Error>");
      return true;
    };
    await expect(open().get("a")).rejects.toMatchObject({ code: "invalid-option" });
    expect(server.requests.length).toBeLessThan(10);
  });
});

describe("credentials", () => {
  const secret = "SeCrEt";

  it.each([
    ["a token", { credentials: { ...credentials, sessionToken: `${secret}\n${secret}` } }],
    ["a header", { headers: { "x-own": `${secret}\n${secret}` } }],
    [
      "a customer's key",
      { encryption: { customerKey: `${secret}\n${secret}`, customerKeyMd5: `${secret}\n${secret}` } },
    ],
  ])("with a line break are not shown: %s", async (_, options) => {
    const error = await open({ retry: {}, ...options })
      .get("a")
      .catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: "invalid-option" });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(secret);
    expect(server.requests).toEqual([]);
  });

  it("that do not come keep nobody from giving up", async () => {
    const abort = new AbortController();
    const never = () => {
      setImmediate(() => abort.abort(new Error("enough")));
      return new Promise<never>(() => {});
    };
    const reading = open({ credentials: never }).get("a", { signal: abort.signal });
    await expect(reading).rejects.toMatchObject({ code: "aborted", cause: new Error("enough") });
  });
});

describe("large bodies", () => {
  it("are sent in pieces, and again from the begin", async () => {
    const retries: Retry[] = [];
    const store = open({ retry: { firstWait: "1ms", onRetry: (retry) => retries.push(retry) } });
    await store.set("a", bytes);
    const value = new Uint8Array(3 * MIB + 1).map((_, i) => i >> 8);
    server.faults.push((response) => {
      response.destroy();
      return true;
    });
    await store.set("b", value);
    expect(retries).toHaveLength(1);
    expect(server.objects.get("b")?.equals(value)).toBe(true);
    expect(server.requests.at(-1)?.headers).toMatchObject({ "content-length": String(value.length) });
  });

  it("end 3 s after the signal, where they are not answered", async () => {
    const store = open();
    await store.set("a", bytes);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const abort = new AbortController();
    server.fault = () => {
      abort.abort(new Error("enough"));
      return new Promise(() => {});
    };
    let isOver = false;
    const writing = store.set("b", new Uint8Array(2 * MIB), { signal: abort.signal });
    const failing = expect(writing.finally(() => (isOver = true))).rejects.toMatchObject({
      code: "aborted",
      cause: new Error("enough"),
    });
    await until(() => abort.signal.aborted);
    vi.advanceTimersByTime(2999);
    await settled();
    expect(isOver).toBe(false);
    vi.advanceTimersByTime(1);
    await failing;
  });
});
