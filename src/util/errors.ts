import { holdsCredentials, redact } from "./redact.ts";

/** All error codes, each with the command's exit code. */
export const EXIT_CODES = {
  "not-found": 3,
  "invalid-metadata": 4,
  "unsupported-format": 4,
  "unsupported-encoding": 4,
  "unsupported-data-type": 4,
  "unsupported-codec": 4,
  "unsupported-extension": 4,
  "unsupported-operation": 4,
  "loss-refused": 4,
  "path-not-allowed": 2,
  "invalid-node-name": 2,
  "invalid-selection": 2,
  "invalid-option": 2,
  "budget-too-small": 2,
  "resource-limit": 4,
  "corrupt-chunk": 1,
  "codec-error": 1,
  "corrupt-store": 1,
  "short-read": 5,
  transient: 5,
  "access-denied": 1,
  "no-space": 1,
  "too-many-files": 1,
  "target-exists": 2,
  "target-inside-source": 2,
  "target-not-empty": 2,
  locked: 1,
  "plan-mismatch": 2,
  "source-changed": 1,
  differs: 6,
  "task-count-missing": 64,
  "tasks-undone": 75,
  aborted: 130,
} as const;

export type ErrorCode = keyof typeof EXIT_CODES;

/**
 * The HTTP status for each error code, for services built on zarrflow: 4xx if another request may succeed, 502 if the
 * source or reading it failed, 501 for anything that zarrflow does not support.
 *
 * @example
 * ```ts
 * import { HTTP_STATUS, isZarrflowError, openArray, slice } from "zarrflow";
 *
 * const answer = async (row: number): Promise<Response> => {
 *   try {
 *     const { data } = await slice(await openArray("era5.zarr/t2m"), [row]).read();
 *     return Response.json({ items: data.length });
 *   } catch (error) {
 *     if (!isZarrflowError(error)) throw error;
 *     return new Response(error.code, { status: HTTP_STATUS[error.code] });
 *   }
 * };
 * console.log((await answer(0)).status, (await answer(1e6)).status); // 200 400
 * ```
 */
export const HTTP_STATUS = {
  "not-found": 404,
  "invalid-metadata": 502,
  "unsupported-format": 501,
  "unsupported-encoding": 501,
  "unsupported-data-type": 501,
  "unsupported-codec": 501,
  "unsupported-extension": 501,
  "unsupported-operation": 501,
  "loss-refused": 422,
  "path-not-allowed": 400,
  "invalid-node-name": 400,
  "invalid-selection": 400,
  "invalid-option": 400,
  "budget-too-small": 413,
  "resource-limit": 502,
  "corrupt-chunk": 502,
  "codec-error": 502,
  "corrupt-store": 502,
  "short-read": 502,
  transient: 502,
  "access-denied": 502,
  "no-space": 507,
  "too-many-files": 503,
  "target-exists": 409,
  "target-inside-source": 409,
  "target-not-empty": 409,
  locked: 423,
  "plan-mismatch": 409,
  "source-changed": 502,
  differs: 409,
  "task-count-missing": 400,
  "tasks-undone": 409,
  aborted: 503,
} as const satisfies Record<ErrorCode, number>;

/**
 * Where an error happened and what was wrong. Every field is optional; none contains a credential. Some codes have
 * more fields: see `DetailsByCode`.
 */
export interface ErrorDetails {
  /** Format of the metadata, such as `v2`. */
  format?: string;
  /** The store in words, such as `directory data.zarr`. */
  store?: string;
  /** Path of the node inside its store; the root is "". */
  path?: string;
  /** The location as the caller wrote it, if the message contains it. */
  url?: string;
  /** Store key of the document or chunk. */
  key?: string;
  /** Chunk coords. */
  coords?: readonly number[];
  /** JSON pointer into the metadata document. */
  pointer?: string;
  /** The offending value; shortened to 80 characters. */
  value?: unknown;
  /** Name of the codec that failed. */
  codec?: string;
  /** Name of the codec's invalid setting. */
  setting?: string;
  /** Name of the option that has no effect. */
  option?: string;
  /** Expected byte count, or a description. */
  expected?: number | string;
  /** The actual one. */
  found?: number | string;
  /** Number of attempts of a request that failed temporarily; absent after a single attempt. */
  attempts?: number;
  /** Seconds that the attempts and the pauses between them took. */
  seconds?: number;
  /** How to fix the problem, as a sentence. */
  hint?: string;
}

/** Additional details of errors, by code. */
export interface DetailsByCode {
  "loss-refused": {
    /** JSON pointers to everything that the format cannot represent, as `allowLoss` accepts them. */
    readonly pointers: readonly string[];
  };
  "budget-too-small": {
    /** The smallest sufficient budget, in bytes. */
    readonly neededBytes: number;
  };
  "access-denied": {
    /** True if the server returned a web page in place of the value. */
    readonly isPage?: boolean;
  };
  transient: {
    /** Seconds after which the server accepts another request. */
    readonly retryAfter?: number;
    /** True if the server asks all clients to send fewer requests. */
    readonly overload?: boolean;
  };
}

/** The details of errors of one code. */
export type DetailsOf<Code extends ErrorCode> = ErrorDetails &
  (Code extends keyof DetailsByCode ? DetailsByCode[Code] : unknown);

/** An error of one code, with its details. */
export interface ErrorOf<Code extends ErrorCode> extends ZarrflowError {
  readonly code: Code;
  readonly details: DetailsOf<Code>;
}

/** Codes whose errors may have only the common details. */
export type PlainCode = Exclude<ErrorCode, Exclude<keyof DetailsByCode, "access-denied">>;

const brand = Symbol.for("zarrflow.error");

/**
 * The only error class: a `code` from a closed list, a sentence, and `details` that outer layers add to on the way
 * up. After `isZarrflowError(error, code)`, TypeScript knows the details of that code.
 *
 * @example
 * ```ts
 * import { isZarrflowError, open } from "zarrflow";
 *
 * try {
 *   await open("no-such.zarr");
 * } catch (error) {
 *   if (!isZarrflowError(error, "not-found")) throw error;
 *   console.log(error.code, error.exitCode); // not-found 3
 * }
 * ```
 */
export class ZarrflowError extends Error {
  override readonly name = "ZarrflowError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  readonly reason: string;

  constructor(code: PlainCode, reason: string, details?: ErrorDetails, options?: ErrorOptions);
  constructor(code: "transient", reason: string, details?: DetailsOf<"transient">, options?: ErrorOptions);
  constructor(
    code: "access-denied",
    reason: string,
    details?: DetailsOf<"access-denied">,
    options?: ErrorOptions,
  );
  constructor(
    code: "loss-refused",
    reason: string,
    details: DetailsOf<"loss-refused">,
    options?: ErrorOptions,
  );
  constructor(
    code: "budget-too-small",
    reason: string,
    details: DetailsOf<"budget-too-small">,
    options?: ErrorOptions,
  );
  constructor(code: ErrorCode, reason: string, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(redact(reason), withoutSecretCause(options));
    this.code = code;
    this.reason = redact(reason);
    this.details = {};
    Object.defineProperty(this, brand, { value: true });
    this.addContext(details);
  }

  get exitCode(): number {
    return EXIT_CODES[this.code];
  }

  /** Creates an error with the code, the reason and the details of another. */
  static like(
    { code, reason, details }: Pick<ZarrflowError, "code" | "reason" | "details">,
    options?: ErrorOptions,
  ): ZarrflowError {
    // `details` matches `code`, which TypeScript cannot see here.
    return new ZarrflowError(code as PlainCode, reason, details, options);
  }

  /**
   * Adds details that are not known yet, and returns the same error. Does nothing to `aborted`, because many calls
   * may fail with one such error.
   */
  addContext(details: ErrorDetails): this {
    if (this.code === "aborted") return this;
    for (const [name, value] of Object.entries(details)) {
      if (value === undefined || this.details[name as keyof ErrorDetails] !== undefined) continue;
      Object.assign(this.details, { [name]: name === "value" ? shorten(value) : withoutSecrets(value) });
    }
    this.message = describe(this.reason, this.details);
    return this;
  }
}

/**
 * True if `error` is a `ZarrflowError`, also one from another copy of the package, and has `code` if one is given.
 */
export function isZarrflowError(error: unknown): error is ZarrflowError;
export function isZarrflowError<Code extends ErrorCode>(error: unknown, code: Code): error is ErrorOf<Code>;
export function isZarrflowError(error: unknown, code?: ErrorCode): error is ZarrflowError {
  if (!(error instanceof Error) || !(brand in error)) return false;
  return code === undefined || ("code" in error && error.code === code);
}

function describe(
  reason: string,
  { coords, path, url, key, codec, pointer, expected, found, attempts, seconds }: ErrorDetails,
): string {
  const subject = [
    coords && `chunk ${coords.join(".") || "0"}`,
    path !== undefined &&
      url === undefined &&
      `${coords ? "of " : ""}${path === "" ? "the root" : `\`${path}\``}`,
    key && (coords || (path !== undefined && url === undefined) ? `(key ${key})` : `key ${key}`),
    pointer !== undefined && `at ${pointer || "/"}`,
    codec !== undefined && `codec ${codec}`,
  ].filter(Boolean);
  const figures = [
    expected !== undefined && `expected ${expected}`,
    found !== undefined && `found ${found}`,
    attempts !== undefined && `${attempts} attempts in ${seconds} s`,
  ].filter(Boolean);
  return `${subject.length ? `${subject.join(" ")}: ` : ""}${reason}${figures.length ? ` (${figures.join(", ")})` : ""}`;
}

/** Returns the options, reducing the cause to its redacted message if that contained credentials. */
function withoutSecretCause(options: ErrorOptions | undefined): ErrorOptions | undefined {
  const cause = options?.cause;
  if (!(cause instanceof Error) || !holdsCredentials(cause.message)) return options;
  return { cause: new Error(redact(cause.message)) };
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  return typeof value === "string" ? redact(value) : value;
}

function shorten(value: unknown): string {
  const text = redact(typeof value === "string" ? value : String(value));
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
