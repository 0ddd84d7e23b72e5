import { ZarrflowError } from "../../util/errors.ts";

/** What signs requests; never shown, logged or written. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** When they stop to work; they are asked for anew before. */
  readonly expiration?: Date;
}

/** Credentials, a function that fetches them (and is asked again before they expire), or none at all. */
export type S3CredentialSource = S3Credentials | (() => Promise<S3Credentials>) | "anonymous";

/** Milliseconds before they expire at which credentials are fetched anew. */
const RENEW_BEFORE = 5 * 60_000;

/** Hands out credentials, of which one set at a time is fetched. */
export class Credentials {
  readonly #source: S3CredentialSource;
  #fetched: Promise<S3Credentials> | undefined;
  /** Time, in milliseconds, from which the fetched ones are too old. */
  #renewAt = 0;

  constructor(source: S3CredentialSource) {
    this.#source = source;
  }

  /** Those to sign with now; undefined where requests are not signed. */
  async current(): Promise<S3Credentials | undefined> {
    if (this.#source === "anonymous") return undefined;
    if (typeof this.#source !== "function") return this.#source;
    if (this.#fetched === undefined || Date.now() >= this.#renewAt) this.#fetched = this.#fetch(this.#source);
    return this.#fetched;
  }

  async #fetch(source: () => Promise<S3Credentials>): Promise<S3Credentials> {
    this.#renewAt = Number.POSITIVE_INFINITY;
    try {
      const credentials = await source();
      const { expiration } = credentials;
      if (expiration !== undefined) this.#renewAt = expiration.getTime() - RENEW_BEFORE;
      return credentials;
    } catch (error) {
      this.#renewAt = 0;
      throw error;
    }
  }
}

/** Variables of the environment, or of a profile under the same names. */
type Variables = Readonly<Record<string, string | undefined>>;

/** The credentials that `AWS_*` variables hold; undefined where they hold none. */
export function credentialsOf(variables: Variables): S3CredentialSource | undefined {
  if (/^(?:1|true|yes|on)$/i.test(variables.AWS_NO_SIGN_REQUEST ?? "")) return "anonymous";
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = variables;
  if (!accessKeyId || !secretAccessKey) return undefined;
  const { AWS_SESSION_TOKEN: sessionToken } = variables;
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

export function noCredentials(): ZarrflowError {
  return new ZarrflowError("access-denied", "there are no credentials to sign requests with", {
    hint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or AWS_NO_SIGN_REQUEST=1 for public data",
  });
}
