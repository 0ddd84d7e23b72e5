import { createHash, createHmac } from "node:crypto";
import { Refusal, type S3Key, type S3Seen } from "./s3-server.ts";

/** Signature version 4 of the request, computed anew. */
export function verifySignature(
  { method, headers, query }: S3Seen,
  url: URL,
  { region, keys }: { readonly region: string; readonly keys: ReadonlyMap<string, S3Key> },
): void {
  const [, accessKey, date = "", scope = "", signed = "", signature] =
    /Credential=([^/]+)\/(\d+)\/(.+?), SignedHeaders=(.+?), Signature=(\w+)/.exec(
      headers.authorization ?? "",
    ) ?? [];
  if (accessKey === undefined) throw new Refusal(403, "AccessDenied");
  const known = keys.get(accessKey);
  if (known === undefined) throw new Refusal(403, "InvalidAccessKeyId");
  if (known.isExpired) throw new Refusal(400, "ExpiredToken");
  if (known.token !== headers["x-amz-security-token"]) throw new Refusal(403, "InvalidToken");
  if (scope !== `${region}/s3/aws4_request`) {
    throw new Refusal(400, "AuthorizationHeaderMalformed", { "x-amz-bucket-region": region });
  }
  const quoted = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const path = url.pathname.split("/").map((segment) => quoted(decodeURIComponent(segment)));
  const search = [...query].map(([name, value]) => `${quoted(name)}=${quoted(value)}`).sort();
  const canonical = [
    method,
    path.join("/"),
    search.join("&"),
    ...signed.split(";").map((name) => `${name}:${headers[name]}`),
    "",
    signed,
    headers["x-amz-content-sha256"],
  ].join("\n");
  const text = [
    "AWS4-HMAC-SHA256",
    headers["x-amz-date"],
    `${date}/${scope}`,
    createHash("sha256").update(canonical).digest("hex"),
  ].join("\n");
  const hmac = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest();
  const key = [date, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${known.secret}`);
  if (hmac(key, text).toString("hex") !== signature) throw new Refusal(403, "SignatureDoesNotMatch");
}
