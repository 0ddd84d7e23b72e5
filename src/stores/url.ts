import { ZarrflowError } from "../util/errors.ts";
import { normalisePath } from "../util/node-path.ts";
import type { FileCalls } from "./file-calls.ts";
import type { Store, StoreOptions, StoreSpec } from "./store.ts";

/** What a URL names: a store, and a node in it. */
export interface StoreUrl {
  readonly spec: StoreSpec;
  /**
   * Normalised path of the node inside the store. Of a directory, a bucket or a web server it is not known where the store ends
   * and the node's path begins: all is in `spec` then, and the caller finds the root by walking up.
   */
  readonly path: string;
  /** The dialect, where the URL names one. */
  readonly dialect?: StoreDialect;
}

export type StoreDialect = "v1" | "v2" | "v3" | "v3-draft-2019";

/** The last stages of a pipeline, such as `x.zip|zip:|zarr3:t2m`; `zarr:` leaves the dialect open. */
const DIALECTS: ReadonlyMap<string, StoreDialect | undefined> = new Map([
  ["zarr", undefined],
  ["zarr1", "v1"],
  ["zarr2", "v2"],
  ["zarr3", "v3"],
  ["zarr3-draft-2019", "v3-draft-2019"],
]);

const ZIP_SEGMENT = /\.(?:zip|ozx)$/i;

/**
 * Takes a URL apart: a path or `file://…`; `s3://BUCKET/PREFIX`; `http(s)://…`; `memory:NAME/path`; a zip by `.zip` or `.ozx` at the end of a
 * segment, with the node's path after it; pipelines such as `data|zip:inner/path|zarr3:`. Looks at nothing but the text.
 *
 * @throws `invalid-option` for what is no URL of a store, `unsupported-operation` for a scheme or stage that is not
 *   known, `path-not-allowed` when the path inside has a segment `.` or `..`.
 * @example
 * ```ts
 * import { parseStoreUrl } from "zarrflow/stores/url";
 *
 * const { spec, path } = parseStoreUrl("/data/era5.zarr.zip/t2m");
 * console.log(spec.kind, path); // zip t2m
 * ```
 */
export function parseStoreUrl(text: string): StoreUrl {
  if (/^[a-z][\w+.-]*(?::\/\/[^:]*)?::/i.test(text)) {
    throw new ZarrflowError("invalid-option", "chained URLs are read from left to right here", {
      value: text,
      hint: "Instead of zip::s3://bucket/x.zip write s3://bucket/x.zip|zip:",
    });
  }
  const [base = "", ...stages] = text.split(/\|(?=[\w+.-]+:)/);
  return stages.reduce(applyStage, parseBase(base));
}

export interface OpenStoreOptions extends StoreOptions {
  /** See `DirectoryStoreOptions`. */
  readonly exclusive?: boolean;
  /** @default asyncFileCalls */
  readonly files?: FileCalls;
}

/**
 * Opens the store that `spec` names. A directory need not exist: it has no keys then.
 *
 * Of a web server's store, calls are made again that failed for now.
 *
 * @throws `not-found` where no zip or no memory store is, `corrupt-store` for a broken zip, `invalid-option` for an
 *   object of the caller's.
 */
export async function openStore(
  spec: StoreSpec,
  { exclusive, files, signal }: OpenStoreOptions = {},
): Promise<Store> {
  signal?.throwIfAborted();
  switch (spec.kind) {
    case "directory": {
      const { DirectoryStore } = await import("./directory.ts");
      return new DirectoryStore(spec.path, { ...(exclusive && { exclusive }), ...(files && { files }) });
    }
    case "zip": {
      const { openZipFile } = await import("./zip.ts");
      return openZipFile(spec.path, { signal, ...(files && { files }) });
    }
    case "zip-value": {
      const { openZipValue } = await import("./zip.ts");
      return openZipValue(await openStore(spec.store, { signal }), spec.key, { signal });
    }
    case "http": {
      const [{ HttpStore }, { withRetry }] = await Promise.all([
        import("./http.ts"),
        import("./with/retry.ts"),
      ]);
      return withRetry(new HttpStore(spec.url));
    }
    case "s3":
      return (await import("./s3/open-s3.ts")).openS3(spec);
    case "memory": {
      const { namedMemoryStore } = await import("./memory.ts");
      const store = namedMemoryStore(spec.name);
      if (store !== undefined) return store;
      throw new ZarrflowError("not-found", `memory:${spec.name} is not in this process`);
    }
    case "object":
      throw new ZarrflowError(
        "invalid-option",
        "a store that is an object of the caller's cannot be opened",
        {
          store: spec.description,
        },
      );
  }
}

function parseBase(text: string): StoreUrl {
  if (text === "") throw new ZarrflowError("invalid-option", "a URL must not be empty", { value: text });
  const memory = /^memory:(?:\/\/)?([^/]*)(.*)$/s.exec(text);
  if (memory !== null) {
    const [, name = "", path = ""] = memory;
    if (name === "")
      throw new ZarrflowError("invalid-option", "memory: must be followed by a name", { value: text });
    return { spec: { kind: "memory", name }, path: normalisePath(path) };
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return parsePath(text);
  if (scheme === "file") return parsePath(pathOfFileUrl(text));
  if (scheme === "http" || scheme === "https") return parseWebUrl(text);
  if (scheme === "s3") return parseS3Url(text);
  throw new ZarrflowError("unsupported-operation", `${scheme}:// stores are not supported`, {
    hint: "A path, file://, s3://, http(s)://, memory: and zip files can be opened; Google's and other clouds by their S3 endpoint.",
  });
}

/** Segments stay as they are encoded in the URL of the server; those of the node's path in a zip are decoded. */
function parseWebUrl(text: string): StoreUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  if (url === undefined || !isPlain) {
    throw new ZarrflowError(
      "invalid-option",
      "a query, a fragment or a password cannot be part of this URL",
      {
        hint: "`?` and `#` in names are percent-encoded; for tokens open the store in a program: new HttpStore(url, { headers }).",
      },
    );
  }
  const segments = url.pathname.split("/").filter((segment) => segment !== "");
  const zip = segments.findIndex((segment) => ZIP_SEGMENT.test(segment));
  const folder = (length: number) => [url.origin, ...segments.slice(0, length)].join("/");
  if (zip < 0) return { spec: { kind: "http", url: folder(segments.length) }, path: "" };
  return {
    spec: zipValue({ kind: "http", url: folder(zip) }, decoded(segments[zip] ?? "")),
    path: normalisePath(
      segments
        .slice(zip + 1)
        .map(decoded)
        .join("/"),
    ),
  };
}

/** Keys stand in the URL as they are, not percent-encoded, as other tools have it. */
function parseS3Url(text: string): StoreUrl {
  const [bucket = "", ...segments] = text
    .slice("s3://".length)
    .split("/")
    .filter((segment) => segment !== "");
  if (bucket === "")
    throw new ZarrflowError("invalid-option", "s3:// must be followed by a bucket", { value: text });
  const zip = segments.findIndex((segment) => ZIP_SEGMENT.test(segment));
  const prefix = (length: number) => normalisePath(segments.slice(0, length).join("/"));
  if (zip < 0) return { spec: { kind: "s3", bucket, prefix: prefix(segments.length) }, path: "" };
  return {
    spec: zipValue({ kind: "s3", bucket, prefix: prefix(zip) }, segments[zip] ?? ""),
    path: normalisePath(segments.slice(zip + 1).join("/")),
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ZarrflowError("invalid-option", "percent signs that encode nothing", { value: segment });
  }
}

function zipValue(store: StoreSpec, key: string): StoreSpec {
  return { kind: "zip-value", store, key };
}

function parsePath(text: string): StoreUrl {
  const segments = text.split("/");
  const zip = segments.findIndex((segment) => ZIP_SEGMENT.test(segment));
  if (zip < 0) return { spec: { kind: "directory", path: absolutePath(text) }, path: "" };
  return {
    spec: { kind: "zip", path: absolutePath(segments.slice(0, zip + 1).join("/")) },
    path: normalisePath(segments.slice(zip + 1).join("/")),
  };
}

function applyStage({ spec, path, dialect }: StoreUrl, stage: string): StoreUrl {
  const colon = stage.indexOf(":");
  const name = stage.slice(0, colon).toLowerCase();
  const inner = normalisePath(`${path}/${stage.slice(colon + 1)}`);
  const zip = dialect === undefined && name === "zip" ? zipOf(spec, path) : undefined;
  if (zip !== undefined) return { spec: zip, path: normalisePath(stage.slice(colon + 1)) };
  if (dialect === undefined && DIALECTS.has(name)) {
    const named = DIALECTS.get(name);
    return named === undefined ? { spec, path: inner } : { spec, path: inner, dialect: named };
  }
  throw new ZarrflowError("unsupported-operation", `the stage ${name}: is not known, or not possible here`, {
    value: stage,
    hint: `Known are zip:, ${[...DIALECTS.keys()].map((known) => `${known}:`).join(", ")}; zip: once, and first.`,
  });
}

/** The zip that a stage `zip:` means behind a store and a path in it; undefined where there can be none. */
function zipOf(spec: StoreSpec, path: string): StoreSpec | undefined {
  if (spec.kind === "memory" && path !== "") return zipValue(spec, path);
  if (path !== "") return undefined;
  if (spec.kind === "directory" || spec.kind === "zip") return { kind: "zip", path: spec.path };
  if (spec.kind === "zip-value") return spec;
  if (spec.kind === "s3" && spec.prefix !== "") {
    const slash = spec.prefix.lastIndexOf("/");
    return zipValue(
      { ...spec, prefix: spec.prefix.slice(0, Math.max(0, slash)) },
      spec.prefix.slice(slash + 1),
    );
  }
  const [, folder, name] = (spec.kind === "http" && /^(.+:\/\/.+)\/([^/]+)$/.exec(spec.url)) || [];
  return folder && name ? zipValue({ kind: "http", url: folder }, decoded(name)) : undefined;
}

function pathOfFileUrl(text: string): string {
  try {
    const { host, pathname, search, hash } = new URL(text);
    const isPlain = (host === "" || host === "localhost") && search === "" && hash === "";
    if (isPlain && !/%2f/i.test(pathname)) return decodeURIComponent(pathname).replace(/^\/(?=[a-z]:)/i, "");
  } catch {
    // not even a URL, or percent signs that encode nothing
  }
  throw new ZarrflowError("invalid-option", "this is no URL of a local file", {
    value: text,
    hint: "It looks like file:///path, with `?`, `#` and `%` percent-encoded.",
  });
}

/** As another process would need it, without `.` and `..` segments and slashes at the end. */
function absolutePath(text: string): string {
  if (/^(?:[a-z]:)?\\|^[a-z]:/i.test(text)) return text; // Windows: absolute, or for it to make sense of
  const from = text.startsWith("/") ? "" : (globalThis.process?.cwd?.() ?? "");
  const segments: string[] = [];
  for (const segment of `${from}/${text}`.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return `${/^[a-z]:/i.test(from) ? "" : "/"}${segments.join("/")}`;
}
