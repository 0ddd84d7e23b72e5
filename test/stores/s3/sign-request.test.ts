import { AwsV4Signer } from "aws4fetch";
import { afterEach, describe, expect, it, vi } from "vitest";
import { nodeDigests, webDigests } from "../../../src/stores/s3/digests.ts";
import { signRequest } from "../../../src/stores/s3/sign-request.ts";

const credentials = { accessKeyId: "AKID", secretAccessKey: "a/b+c", sessionToken: "token==" };
const requests: { method: string; url: string; headers: Record<string, string> }[] = [
  { method: "GET", url: "https://bucket.s3.eu-west-1.amazonaws.com/a/b", headers: { range: "bytes=0-1" } },
  {
    method: "PUT",
    url: "http://127.0.0.1:9000/b/t%2Bm/0.0!(*)'%20%C3%A9",
    headers: { "x-amz-checksum-crc32": "AAAAAA==" },
  },
  {
    method: "GET",
    url: "http://h/b/?prefix=a%2Fb&list-type=2&continuation-token=x%2By%3D&delimiter=%2F",
    headers: {},
  },
  { method: "POST", url: "http://h/b/?delete=", headers: { "x-two": "a   b", "content-type": "text/xml" } },
  { method: "GET", url: "http://h/b/?prefix-a=1&prefix=2&prefix2=3", headers: { authorization: "another" } },
];

afterEach(() => {
  vi.useRealTimers();
});

describe("signRequest", () => {
  it.each(requests)("signs as aws4fetch does: $method $url", async ({ method, url, headers }) => {
    vi.useFakeTimers({ now: Date.UTC(2026, 1, 3, 4, 5, 6) });
    const place = { region: "eu-west-1", keys: new Map<string, Uint8Array>() };
    const twin = new AwsV4Signer({
      method,
      url,
      headers,
      service: "s3",
      region: place.region,
      ...credentials,
    });
    const expected = Object.fromEntries((await twin.sign()).headers);
    for (let i = 0; i < 2; i++) {
      expect(await signRequest({ method, url: new URL(url), headers }, credentials, place)).toEqual(expected);
    }
    expect(place.keys.size).toBe(1);
  });

  it("signs the host that is sent", async () => {
    const place = { region: "eu-west-1", keys: new Map<string, Uint8Array>() };
    vi.useFakeTimers({ now: Date.UTC(2026, 1, 3, 4, 5, 6) });
    const sign = async (url: string, headers: Record<string, string>) =>
      (await signRequest({ method: "GET", url: new URL(url), headers }, credentials, place)).authorization;
    expect(await sign("http://127.0.0.1:9000/b/k", { host: "h" })).toBe(await sign("http://h/b/k", {}));
  });

  it("signs with another key the next day, in another region, and with another secret", async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 1, 3, 23, 59) });
    const keys = new Map<string, Uint8Array>();
    const request = { method: "GET", url: new URL("http://h/b/k"), headers: {} };
    const signatures = new Set<string | undefined>();
    const sign = async (region: string, secretAccessKey: string) =>
      signatures.add(
        (await signRequest(request, { accessKeyId: "k", secretAccessKey }, { region, keys })).authorization,
      );
    await sign("a", "secret");
    await sign("b", "secret");
    await sign("a", "other");
    vi.setSystemTime(Date.UTC(2026, 1, 4));
    await sign("a", "secret");
    expect([signatures.size, keys.size]).toEqual([4, 4]);
  });
});

describe("digests", () => {
  it.each(["", "abc", "ä".repeat(1000)])("are the same in browsers (%#)", async (text) => {
    const key = new Uint8Array([1, 2, 3]);
    expect(nodeDigests()).toBeDefined();
    expect(await webDigests.sha256(text)).toBe(await nodeDigests()?.sha256(text));
    expect(Buffer.from(await webDigests.hmac(key, text))).toEqual(
      Buffer.from((await nodeDigests()?.hmac(key, text)) ?? []),
    );
  });
});
