// @module-tag slow
import type { ServerResponse } from "node:http";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { S3StoreOptions } from "../../../src/stores/s3.ts";
import { all, keysOf } from "../../support/consume.ts";
import { withoutPauses } from "../../support/no-pauses.ts";
import { settled, until } from "../../support/until.ts";
import { refusal, type S3Server, serveBucket, storeIn } from "../s3-server.ts";

withoutPauses();
afterEach(() => void vi.useRealTimers());

const bytes = new Uint8Array(3);
const MIB = 2 ** 20;
const QUICKLY = { attempts: 3, firstWait: "1ms" };

let server: S3Server;
beforeEach(async () => {
  server = await serveBucket();
  return () => server.close();
});
const open = (more: Partial<S3StoreOptions> = {}) => storeIn(server, more);

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

describe("listings", () => {
  it("that are cut off are asked for again", async () => {
    for (const key of ["a", "b", "c"]) server.objects.set(key, Buffer.from("x"));
    server.faults.push((response) => !!response.end(page(["a", "b"]).replace(/<Contents><Key>b.*/s, "")));
    expect(await keysOf(open({ retry: QUICKLY }))).toEqual(["a", "b", "c"]);
    always(200);
    await expect(keysOf(open())).rejects.toMatchObject({ code: "short-read" });
  });

  it.each([
    ["go in circles", page(["p/a"], "again"), /order|again/],
    ["are empty, and go in circles", page([], "again"), /again/],
    ["do not tell where to go on", page(["p/a"], "on").replace(/<Next.*Token>/, ""), /no continuation token/],
    ["have no order", page(["p/b", "p/a"]), /order/],
    ["name what was not asked for", page(["q/a"]), /not asked for/],
    ["leave the root", page(["xp/../etc"]), /not asked for/],
    ["name what is no text", page(["p/%ff"]), /none/],
  ])("that %s are refused", async (_, body, reason) => {
    always(200, body);
    await expect(keysOf(open({ prefix: "p" }))).rejects.toMatchObject({ code: "corrupt-store", reason });
  });

  it("of uploads that go in circles are refused, and sizes that are none left out", async () => {
    const next = "<NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>1</NextUploadIdMarker>";
    const uploads = `<IsTruncated>true</IsTruncated>${next}`;
    always(200, `<ListMultipartUploadsResult>${uploads}</ListMultipartUploadsResult>`);
    const listing = all(open().listUploads(""));
    await expect(listing).rejects.toMatchObject({ code: "corrupt-store", reason: /again/ });
    always(200, page(["a"]).replace("<Size>1<", "<Size>-1e400<"));
    expect(await all(open().list(""))).toEqual([{ key: "a" }]);
  });
});

describe("answers", () => {
  it("without end are given up", async () => {
    const endless = (status: number, text: string) => {
      const piece = text.repeat(Math.ceil(MIB / text.length));
      const send = (response: ServerResponse) => {
        while (!response.destroyed && response.write(piece));
      };
      server.fault = (response) => {
        send(response.writeHead(status).on("drain", () => send(response)));
        return true;
      };
    };
    endless(200, "<Contents><Key>a</Key></Contents>");
    await expect(keysOf(open())).rejects.toMatchObject({ code: "resource-limit" });
    endless(500, "<Error>");
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
    const writer = await store.openWriter("b");
    await writer.write(bytes);
    const calls: Record<string, () => Promise<unknown>> = {
      a: () => store.set("a", bytes),
      b: () => writer.commit(),
      long: () => upload.commit(),
      ...(status !== 412 && { c: () => store.setIfAbsent("c", bytes) }),
    };
    for (const [key, call] of Object.entries(calls))
      await expect(call()).rejects.toMatchObject({ details: { key } });
  });

  it("to a deletion that are cut, or name no key, are no success", async () => {
    const store = open({ retry: QUICKLY });
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
    server.fault = refusal(403, "AccessDenied");
    const store = open({ missing403: true });
    expect(await store.get("a")).toBeUndefined();
    await expect(keysOf(store)).rejects.toMatchObject({ code: "access-denied" });
  });

  it.each([
    [400, "ExpiredToken", "the credentials have expired"],
    [403, "RequestTimeTooSkewed", "the clocks of this machine and the server differ"],
    [403, "AccessDenied", "--missing-403"],
    [403, "AccessDenied", "AWS_REQUEST_PAYER=requester"],
  ])("of %i %s say: %s, also where HEAD comes first", async (status, code, words) => {
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
});

describe("regions", () => {
  it("are learned once, by all requests that are under way, and kept", async () => {
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
    await store.set("a", bytes);
    expect(elsewhere.requests).toHaveLength(9);
    await elsewhere.close();
  });

  it("are not looked for without end, and named where the bucket is said to be", async () => {
    server.fault = (response, request) => {
      const headers = { "x-amz-bucket-region": `region-${server.requests.length}` };
      return refusal(301, "PermanentRedirect", headers)(response, request);
    };
    await expect(open().get("a")).rejects.toMatchObject({ code: "invalid-option" });
    expect(server.requests.length).toBeLessThan(10);
    always(301, "<Error><Code>PermanentRedirect</Code><Region>Mars-1</Region></Error>");
    const hint = expect.stringContaining("AWS_REGION=Mars-1");
    await expect(open().get("a")).rejects.toMatchObject({ code: "invalid-option", details: { hint } });
  });
});

describe("credentials", () => {
  const broken = "SeCrEt\nSeCrEt";

  it.each([
    ["a token", { credentials: { accessKeyId: "a", secretAccessKey: "b", sessionToken: broken } }],
    ["a header", { headers: { "x-own": broken } }],
    ["a customer's key", { encryption: { customerKey: broken, customerKeyMd5: broken } }],
  ])("with a line break are not shown: %s", async (_, options) => {
    const reading = open({ retry: {}, ...options }).get("a");
    const error = await reading.catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: "invalid-option" });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("SeCrEt");
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
    const onRetry = vi.fn();
    const store = open({ retry: { firstWait: "1ms", onRetry } });
    const value = new Uint8Array(3 * MIB + 1).map((_, i) => i >> 8);
    server.faults.push((response) => !!response.destroy());
    await store.set("b", value);
    expect(onRetry).toHaveBeenCalledOnce();
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
    const aborted = { code: "aborted", cause: new Error("enough") };
    const failing = expect(writing.finally(() => (isOver = true))).rejects.toMatchObject(aborted);
    await until(() => abort.signal.aborted);
    vi.advanceTimersByTime(2999);
    await settled();
    expect(isOver).toBe(false);
    vi.advanceTimersByTime(1);
    await failing;
  });
});
