import { describe, expect, it } from "vitest";
import { followRedirects } from "../../../src/stores/http/follow-redirects.ts";
import type { HttpResponse, PlainFetch } from "../../../src/stores/http/http-response.ts";

/** A server that sends the first request on to `location`. */
function sendingTo(location: string): { readonly fetch: PlainFetch; readonly asked: string[] } {
  const asked: string[] = [];
  const fetch: PlainFetch = async (url) => {
    asked.push(url.href);
    const status = asked.length === 1 ? 302 : 200;
    const headers = new Headers(status === 302 ? { location } : {});
    return { ok: status === 200, status, statusText: "", headers, body: null } satisfies HttpResponse;
  };
  return { fetch, asked };
}

const request = { method: "GET", own: {}, headers: {} } as const;

describe("a redirection", () => {
  it.each([
    ["https://example.org/a", "http://169.254.169.254/latest/meta-data/"],
    ["http://example.org/a", "http://169.254.169.254/latest/meta-data/"],
    ["http://example.org/a", "http://2852039166/latest/"],
    ["http://example.org/a", "http://[::ffff:169.254.169.254]/"],
    ["http://example.org/a", "http://[fe80::1]/"],
    ["http://example.org/a", "http://[fd00:ec2::254]/"],
    ["http://example.org/a", "http://metadata.google.internal/computeMetadata/v1/"],
    ["http://example.org/a", "http://127.0.0.1:9000/a"],
    ["http://example.org/a", "https://127.1/a"],
    ["http://example.org/a", "http://0.0.0.0/a"],
    ["http://example.org/a", "http://0x7f000001/a"],
    ["http://example.org/a", "http://[::1]/a"],
    ["http://example.org/a", "http://[::ffff:7f00:1]/a"],
    ["http://example.org/a", "http://localhost/a"],
    ["http://example.org/a", "http://LOCALHOST./a"],
    ["http://example.org/a", "http://x.localhost/a"],
    ["http://127.0.0.1/a", "http://169.254.169.254/a"],
    ["https://example.org/a", "http://example.org/a"],
    ["http://example.org/a", "file:///etc/passwd"],
    ["http://example.org/a", "data:text/plain,a"],
    ["http://example.org/a", "ftp://example.org/a"],
    ["http://example.org/a", "http://user:password@example.org/a"],
  ])("from %s to %s is refused, and asks nobody", async (from, to) => {
    const { fetch, asked } = sendingTo(to);
    const failure = await followRedirects(fetch, new URL(from), request).catch((error) => error);
    expect(failure).toMatchObject({
      code: "unsupported-operation",
      reason: "the redirect leads to an address that is not allowed",
    });
    expect(String(failure)).not.toContain("password");
    expect(asked).toEqual([from]);
  });

  it.each([
    ["http://127.0.0.1:8000/a", "http://localhost:9000/b"],
    ["http://[::1]/a", "http://127.0.0.1/b"],
    ["http://169.254.1.1/a", "http://169.254.1.2/b"],
    ["http://example.org/a", "https://cdn.example.org/b?sig=1"],
    ["http://10.0.0.1/a", "http://10.0.0.2/b"],
    ["http://example.org/a", "http://127.example.org/b"],
    ["http://example.org/a", "http://localhost.example.org/b"],
  ])("from %s to %s is followed", async (from, to) => {
    const { fetch, asked } = sendingTo(to);
    await expect(followRedirects(fetch, new URL(from), request, async () => [])).resolves.toMatchObject({
      status: 200,
    });
    expect(asked).toEqual([from, to]);
  });

  it.each(["127.0.0.1", "169.254.169.254", "::1", "fe80::1%eth0", "::ffff:169.254.169.254", "0.0.0.0"])(
    "to a name whose address is %s is refused, and asks nobody there",
    async (address) => {
      const { fetch, asked } = sendingTo("http://other.example.org/b");
      const url = new URL("http://example.org/a");
      const resolve = async () => ["203.0.113.7", address];
      await expect(followRedirects(fetch, url, request, resolve)).rejects.toMatchObject({
        code: "unsupported-operation",
        reason: "the redirect leads to an address that is not allowed",
      });
      expect(asked).toEqual([url.href]);
    },
  );

  it("to a name with an address elsewhere, or with none that is known, is followed", async () => {
    for (const addresses of [["203.0.113.7", "2001:db8::1"], []]) {
      const { fetch, asked } = sendingTo("http://other.example.org/b");
      await followRedirects(fetch, new URL("http://example.org/a"), request, async () => addresses);
      expect(asked).toHaveLength(2);
    }
  });
});
