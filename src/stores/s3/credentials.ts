import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";

/** Credentials that sign requests; never shown, logged or saved. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** Time when they expire; they are renewed before. */
  readonly expiration?: Date | undefined;
}

/**
 * Credentials, a function that fetches them (called again before they expire), or none. The providers of
 * `@aws-sdk/credential-providers` are such functions.
 */
export type S3CredentialSource = S3Credentials | (() => Promise<S3Credentials>) | "anonymous";

/** Milliseconds before expiration when credentials are renewed. */
const RENEW_BEFORE = 5 * 60_000;
/** Milliseconds until the next attempt, if a renewal failed or returned credentials that expire no later. */
const TRY_AGAIN_AFTER = 10_000;

/** Provides credentials and renews them, with at most one fetch in flight. */
export class Credentials {
  readonly #source: S3CredentialSource;
  #latest: S3Credentials | undefined;
  #fetching: Promise<S3Credentials> | undefined;
  /** Time in milliseconds when the latest ones must be renewed. */
  #renewAt = 0;

  constructor(source: S3CredentialSource) {
    this.#source = source;
  }

  /**
   * Returns the credentials to sign with now; undefined if requests are not signed.
   *
   * @throws `access-denied` if they have expired; the errors of their source if there are no others.
   */
  async current(): Promise<S3Credentials | undefined> {
    if (this.#source === "anonymous") return undefined;
    if (typeof this.#source !== "function") return stillValid(this.#source);
    if (this.#latest !== undefined && Date.now() < this.#renewAt) return stillValid(this.#latest);
    this.#fetching ??= this.#fetch(this.#source).finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetch(source: () => Promise<S3Credentials>): Promise<S3Credentials> {
    try {
      const fetched = stillValid(await source());
      this.#latest = fetched;
      const until = fetched.expiration?.getTime() ?? Number.POSITIVE_INFINITY;
      this.#renewAt = Math.max(until - RENEW_BEFORE, Date.now() + TRY_AGAIN_AFTER);
      return fetched;
    } catch (error) {
      if (this.#latest === undefined || isExpired(this.#latest)) throw error;
      this.#renewAt = Date.now() + TRY_AGAIN_AFTER;
      return this.#latest;
    }
  }
}

/** @throws `access-denied` if they have expired. */
function stillValid(credentials: S3Credentials): S3Credentials {
  if (!isExpired(credentials)) return credentials;
  throw new ZarrflowError("access-denied", "the credentials have expired", {
    found: `they were valid until ${credentials.expiration?.toISOString()}`,
    hint: "Get new credentials, or use a profile that renews them.",
  });
}

function isExpired({ expiration }: S3Credentials): boolean {
  return expiration !== undefined && expiration.getTime() <= Date.now();
}

/** Hint on ways to get credentials, or to work without. */
export const HOW_TO_SIGN =
  "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE. For public data use --anonymous or AWS_NO_SIGN_REQUEST=1.";

/** Environment variables, or settings of a profile under the same names. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the credentials in `AWS_*` variables; undefined without any. */
export function credentialsOf(variables: Variables): S3Credentials | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = variables;
  if (!accessKeyId || !secretAccessKey) return undefined;
  const { AWS_SESSION_TOKEN: sessionToken, AWS_CREDENTIAL_EXPIRATION: until } = variables;
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken && { sessionToken }),
    ...(until && { expiration: dateOf(until) }),
  };
}

/**
 * Parses credentials in JSON, as services and programs return them.
 *
 * @throws `access-denied` for anything else, without showing the text.
 * @see the output of `credential_process`, of container endpoints and of instance metadata
 */
export function parseCredentials(text: string, from: string): S3Credentials {
  const { AccessKeyId, SecretAccessKey, SessionToken, Token = SessionToken, Expiration } = fieldsOf(text);
  if (!AccessKeyId || !SecretAccessKey) {
    throw new ZarrflowError("access-denied", `${from} returned no credentials`, { hint: HOW_TO_SIGN });
  }
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    ...(Token && { sessionToken: Token }),
    ...(Expiration && { expiration: dateOf(Expiration) }),
  };
}

function fieldsOf(text: string): Partial<Record<string, string>> {
  try {
    const fields: object = JSON.parse(text) ?? {};
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === "string"));
  } catch {
    return {};
  }
}

/** @throws `access-denied` */
export function dateOf(text: string): Date {
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  throw new ZarrflowError("access-denied", "the expiration of the credentials is unknown");
}

/** @param cause error of the last source that was tried */
export function noCredentials(cause?: unknown): ZarrflowError {
  return new ZarrflowError(
    "access-denied",
    "there are no credentials to sign requests",
    {
      ...(isZarrflowError(cause) && { found: cause.reason }),
      hint: HOW_TO_SIGN,
    },
    { cause },
  );
}
