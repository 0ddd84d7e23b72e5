import { ZarrflowError } from "../../util/errors.ts";

/** Advice for places with schemes of other tools, by scheme. */
const SCHEMES: Readonly<Record<string, (rest: string) => string>> = {
  s3a: inS3,
  s3n: inS3,
  gs: inGoogle,
  gcs: inGoogle,
  az: inAzure,
  abfs: inAzure,
  abfss: inAzure,
  adl: inAzure,
  wasb: inAzure,
  wasbs: inAzure,
  hf: inHuggingFace,
  r2: byEndpoint,
  oss: byEndpoint,
  cos: byEndpoint,
  obs: byEndpoint,
  minio: byEndpoint,
  b2: byEndpoint,
  swift: byEndpoint,
};

const KNOWN = "Supported are paths, file://, s3://, http(s)://, memory: and zips in any of these.";

/** Stages of chained URLs that cache data, and have no equivalent here. */
const CACHES = /^(?:simplecache|filecache|blockcache|cached)$/i;

/** A chained URL of fsspec, such as `zip://t2m::s3://bucket/x.zip`, with the outermost stage first. */
const CHAIN = /^[a-z][\w+.-]*(?::\/\/[^:]*)?::/i;

/** A store name followed by `#`. */
const FRAGMENT = /^(.*?\.(?:zarr|zip|ozx|n5|nc|h5))\/?#(.*)$/is;

/**
 * Rejects names of stores in the syntax of other tools, with advice on how to write them here.
 *
 * @throws `invalid-option`
 */
export function assertNotForeign(text: string): void {
  if (CHAIN.test(text)) {
    throw new ZarrflowError("invalid-option", "chained URLs must be written from left to right", {
      value: text,
      hint: chainAdvice(text.split("::")),
    });
  }
  const [, base, inside = ""] = FRAGMENT.exec(text) ?? [];
  if (base !== undefined && !/^https?:/i.test(text)) throw fragment(base, inside, text);
}

/** Makes the error for a URL with a `#`. */
export function fragment(base: string, inside: string, text: string): ZarrflowError {
  // NetCDF uses `#mode=zarr,file`
  const path = inside.includes("=") ? "" : inside.replace(/^\/+/, "");
  return new ZarrflowError(
    "invalid-option",
    "the path of a node inside a store must follow a `/`, not a `#`",
    {
      value: text,
      hint: `Write ${base}${path === "" ? "" : `/${path}`}. A \`#\` in a name is written %23 in file:// and http(s):// URLs.`,
    },
  );
}

export function unknownScheme(scheme: string, text: string): ZarrflowError {
  const rest = text.slice(text.indexOf("://") + 3);
  const advice = Object.hasOwn(SCHEMES, scheme) ? SCHEMES[scheme]?.(rest) : undefined;
  return new ZarrflowError("unsupported-operation", `${scheme}:// stores are not supported`, {
    hint: advice ?? KNOWN,
  });
}

/** Suggests the equivalent pipeline, if there is one. */
function chainAdvice(links: readonly string[]): string {
  const outer = links.slice(0, -1).filter((link) => !CACHES.test(nameOf(link)));
  const foreign = outer.find((link) => !/^zip$/i.test(nameOf(link)));
  if (foreign !== undefined) return `The scheme ${nameOf(foreign)} is unknown. ${KNOWN}`;
  const stages = outer.reverse().map((link) => `|zip:${link.split("://")[1] ?? ""}`);
  const pipeline = `${links.at(-1)}${stages.join("")}`;
  if (outer.length === links.length - 1) return `Write ${pipeline}.`;
  return `Write ${pipeline}; in a program, withCache keeps what was read.`;
}

function nameOf(link: string): string {
  return link.split(":")[0] ?? "";
}

function inS3(rest: string): string {
  return `Write s3://${rest}.`;
}

function inGoogle(rest: string): string {
  return `Write s3://${rest} with AWS_ENDPOINT_URL=https://storage.googleapis.com, and an HMAC key of the bucket as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Public data can also be read from https://storage.googleapis.com/${rest}.`;
}

function inAzure(rest: string): string {
  const [, container, account, path = ""] = /^([^@/]+)@([^./]+)[^/]*\/?(.*)$/.exec(rest) ?? [];
  const place = account
    ? `${account}.blob.core.windows.net/${container}/${path}`
    : `ACCOUNT.blob.core.windows.net/${rest}`;
  return `Read public containers from https://${place}, and those with a token from "https://${place}?TOKEN".`;
}

function inHuggingFace(rest: string): string {
  const [, kind = "", repository, revision = "main", path = ""] =
    /^((?:datasets|spaces)\/)?([^/]+\/[^/@]+)(?:@([^/]+))?\/?(.*)$/.exec(rest) ?? [];
  const place = repository
    ? `${kind}${repository}/resolve/${revision}/${path}`
    : "datasets/OWNER/NAME/resolve/main/PATH";
  return `Write https://huggingface.co/${place}.`;
}

function byEndpoint(rest: string): string {
  return `Write s3://${rest} with AWS_ENDPOINT_URL set to the S3 endpoint of its cloud.`;
}
