import { ZarrflowError } from "../../util/errors.ts";
import { normalizePath } from "../../util/node-path.ts";
import { pageUrl } from "../../util/platform.node.ts";
import { holdsCredentials, keepSecret } from "../../util/redact.ts";
import { accessedBy } from "../access.ts";
import type { StoreSpec } from "../store.ts";
import { parentSpec } from "../store-spec.ts";
import { assertNotForeign, fragment, unknownScheme } from "./foreign-url.ts";
import { absolutePath, pathOfFileUrl, slashed } from "./local-path.ts";

const ZIP_SEGMENT = /\.(?:zip|ozx)$/i;

/**
 * Parses a URL: a path or `file://…`; `s3://BUCKET/PREFIX`; `http(s)://…`; `memory:NAME/path`; a zip, named by a
 * segment that ends in `.zip` or `.ozx`, followed by the node's path; pipelines such as
 * `data|zip:inner/path|zarr3:`. In a page, a path is a URL relative to the page. Only looks at the text.
 *
 * @throws `invalid-option` for anything but a URL of a store, or one in the syntax of other tools;
 *   `unsupported-operation` for an unknown scheme or stage, both with a hint; `path-not-allowed` if the inner path
 *   has a segment `.` or `..`.
 * @example
 * ```ts
 * import { parseStoreUrl } from "zarrflow/stores/url";
 *
 * const { spec, path } = parseStoreUrl("/data/era5.zarr.zip/t2m");
 * console.log(spec.kind, path); // zip t2m
 * ```
 */
export function parseStoreUrl(text: string): StoreUrl {
  if (text.includes("\0")) throw new ZarrflowError("invalid-option", "a URL must not contain a NUL byte");
  assertNoCredentials(text);
  assertNotForeign(text);
  const [base = "", ...stages] = text.split(/\|(?=[\w+.-]+:)/);
  return stages.reduce(applyStage, parseBase(base));
}

/** Rejects a name, a password or a signature in a URL, which would appear in every message and plan. */
function assertNoCredentials(text: string): void {
  // The query of a web server's URL is never shown.
  const shown = text.replace(/^(https?:\/\/[^?|#]*)\?[^|#]*/i, "$1");
  if (!/^(?:https?:|[a-z][a-z0-9+.-]+:\/)/i.test(shown) || !holdsCredentials(shown)) return;
  if (/^(?:abfss?|wasbs?|adl):/i.test(text) && !/[?:][^/]*@|\?/.test(text.slice(text.indexOf("://") + 3)))
    return;
  throw noCredentials();
}

function noCredentials(): ZarrflowError {
  return new ZarrflowError(
    "invalid-option",
    "this URL must not contain a password, nor a token in this place",
    {
      hint: "Tokens for web servers go after the path, as in https://host/x.zarr?token=..., or into a header (--header, in code headers).",
    },
  );
}

function parseBase(text: string): StoreUrl {
  if (text === "") throw new ZarrflowError("invalid-option", "a URL must not be empty", { value: text });
  const memory = /^memory:(?:\/\/)?([^/]*)(.*)$/s.exec(text);
  if (memory !== null) {
    const [, name = "", path = ""] = memory;
    if (name === "")
      throw new ZarrflowError("invalid-option", "memory: must be followed by a name", { value: text });
    return { spec: { kind: "memory", name }, path: normalizePath(path) };
  }
  assertTwoSlashes(text);
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(text)?.[1]?.toLowerCase();
  const page = scheme === undefined ? pageUrl(text) : undefined;
  if (page !== undefined) return parseWebUrl(page);
  if (scheme === undefined) return parsePath(text);
  if (scheme === "file") return parsePath(pathOfFileUrl(text));
  if (scheme === "http" || scheme === "https") return parseWebUrl(text);
  if (scheme === "s3") return parseS3Url(text);
  throw unknownScheme(scheme, text);
}

/** Rejects `https:/host/x`, which would be taken for a folder. @throws `invalid-option` */
function assertTwoSlashes(text: string): void {
  const [, scheme, rest] = /^(https?|s3|file):\/(?!\/)(.*)$/is.exec(text) ?? [];
  if (scheme === undefined) return;
  throw new ZarrflowError("invalid-option", `${scheme}: must be followed by two slashes`, {
    value: text,
    hint: `Did you mean \`${scheme}://${scheme === "file" ? "/" : ""}${rest}\`?`,
  });
}

function parsePath(text: string): StoreUrl {
  const { store, zip, path } = splitAtZip(slashed(text).split("/"));
  if (zip === undefined) return { spec: { kind: "directory", path: absolutePath(store.join("/")) }, path };
  return { spec: { kind: "zip", path: absolutePath([...store, zip].join("/")) }, path };
}

/** Parses the URL of a web server. Its segments stay encoded; those of the node's path in a zip are decoded. */
function parseWebUrl(text: string): StoreUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && url.hash !== "") throw fragment(text.slice(0, text.indexOf("#")), url.hash.slice(1), text);
  if (url === undefined) throw noWebUrl(text);
  if (url.username !== "" || url.password !== "") throw noCredentials();
  if (url.search !== "") keepSecret(text.slice(text.indexOf("?")));
  const { store, zip, path } = splitAtZip(segmentsOf(url.pathname));
  const folder = accessedBy({ kind: "http", url: [url.origin, ...store].join("/") }, { query: url.search });
  if (zip === undefined) return { spec: folder, path };
  return { spec: zipValue(folder, decodedSegment(zip)), path: path.split("/").map(decodedSegment).join("/") };
}

/** Makes the error for an unreadable URL, whose host or port is invalid. */
function noWebUrl(text: string): ZarrflowError {
  const authority = /^https?:\/\/([^/?#|]*)/i.exec(text)?.[1] ?? "";
  if (authority.includes("@")) return noCredentials();
  const [, host = "", port] = /^(\[.*\]|[^:]*)(?::(.*))?$/.exec(authority) ?? [];
  const isPort = port === undefined || (/^\d*$/.test(port) && Number(port) <= 65535);
  const wrong = isPort ? `its host is \`${host}\`` : `its port is \`${port}\``;
  return new ZarrflowError("invalid-option", `this is not a valid URL: ${wrong}`, {
    value: text,
    hint: isPort ? "Write https://HOST/PATH." : "A port is a number from 0 to 65535.",
  });
}

/** Parses an S3 URL. Keys in it are not percent-encoded, as in other tools. */
function parseS3Url(text: string): StoreUrl {
  const [bucket = "", ...segments] = segmentsOf(text.slice("s3://".length));
  if (bucket === "")
    throw new ZarrflowError("invalid-option", "s3:// must be followed by a bucket", { value: text });
  const { store, zip, path } = splitAtZip(segments);
  const folder = { kind: "s3", bucket, prefix: normalizePath(store.join("/")) } as const;
  return { spec: zip === undefined ? folder : zipValue(folder, zip), path };
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** Splits segments at the first that names a zip: those before it, its name, and the path inside. */
function splitAtZip(segments: readonly string[]): {
  readonly store: readonly string[];
  readonly zip?: string;
  readonly path: string;
} {
  const at = segments.findIndex((segment) => ZIP_SEGMENT.test(segment));
  const zip = segments[at];
  if (zip === undefined) return { store: segments, path: "" };
  return { store: segments.slice(0, at), zip, path: normalizePath(segments.slice(at + 1).join("/")) };
}

/** Last stages of a pipeline, such as `x.zip|zip:|zarr3:t2m`; `zarr:` leaves the format open. */
const FORMATS: ReadonlyMap<string, FoundFormat | undefined> = new Map([
  ["zarr", undefined],
  ["zarr1", "v1"],
  ["zarr2", "v2"],
  ["zarr3", "v3"],
  ["zarr3-draft-2019", "v3-draft-2019"],
]);

/**
 * Applies another stage, such as `zip:inner/path` or `zarr3:t2m`, to a URL.
 *
 * @throws `unsupported-operation`
 * @see ZEP 8
 */
export function applyStage({ spec, path, zarrFormat }: StoreUrl, stage: string): StoreUrl {
  const colon = stage.indexOf(":");
  const name = stage.slice(0, colon).toLowerCase();
  const within = normalizePath(stage.slice(colon + 1));
  const zip = zarrFormat === undefined && name === "zip" ? zipOf(spec, path) : undefined;
  if (zip !== undefined) return { spec: zip, path: within };
  if (zarrFormat === undefined && FORMATS.has(name)) {
    const named = FORMATS.get(name);
    const inner = normalizePath(`${path}/${within}`);
    return named === undefined ? { spec, path: inner } : { spec, path: inner, zarrFormat: named };
  }
  throw new ZarrflowError("unsupported-operation", `the stage ${name}: is unknown or not allowed here`, {
    value: stage,
    hint: `Known stages are zip: after the name of a zip and, at the end, ${[...FORMATS.keys()].map((known) => `${known}:`).join(", ")}.`,
  });
}

/** Returns the zip that a stage `zip:` means after a store and a path in it; undefined without one. */
function zipOf(spec: StoreSpec, path: string): StoreSpec | undefined {
  if (path !== "") return zipValue(spec, path);
  if (spec.kind === "directory" || spec.kind === "zip") return { kind: "zip", path: spec.path };
  if (spec.kind === "zip-value") return spec;
  const around = parentSpec(spec);
  return around && zipValue(around.spec, around.name);
}

export function zipValue(store: StoreSpec, key: string): StoreSpec {
  return { kind: "zip-value", store, key };
}

/** @throws `invalid-option` for percent signs that do not encode a character. */
export function decodedSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ZarrflowError("invalid-option", "percent signs that do not encode a character", {
      value: segment,
    });
  }
}

/** The store and the node in it that a URL names. */
export interface StoreUrl {
  readonly spec: StoreSpec;
  /**
   * Normalized path of the node inside the store. In a directory, a bucket or a web server, the URL does not show
   * where the store ends and the node's path starts. Then all is in `spec`, and the caller finds the root by
   * walking up.
   */
  readonly path: string;
  /** The format, if the URL names one. */
  readonly zarrFormat?: FoundFormat;
}

export type FoundFormat = "v1" | "v2" | "v3" | "v3-draft-2019";
