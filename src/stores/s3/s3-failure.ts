import { isZarrflowError, type PlainCode, ZarrflowError } from "../../util/errors.ts";
import { statusFailure } from "../http/http-response.ts";
import { elementText } from "./xml.ts";

/** Bucket names of any server: Ceph's have a tenant in front, others have capitals and underscores. */
export const BUCKET = /^(?:[\w.-]*:)?\w[\w.-]{1,253}\w$/;
export const BUCKET_HINT =
  "Bucket names have at least 3 characters: letters, digits, hyphens, underscores and periods; in Ceph a tenant may precede them: tenant:bucket.";

interface Meaning {
  readonly code: PlainCode | "transient";
  readonly reason: string;
  readonly hint?: string;
  readonly overload?: boolean;
}

const busy: Meaning = {
  code: "transient",
  reason: "the server asks for fewer requests",
  overload: true,
};
const elsewhere: Meaning = {
  code: "invalid-option",
  reason: "the bucket is in another region, or at another endpoint",
  hint: "Set AWS_REGION or AWS_ENDPOINT_URL_S3.",
};
const stale: Meaning = {
  code: "access-denied",
  reason: "the credentials have expired",
  hint: "Get new credentials, or use a profile that renews them.",
};
const wrongKey: Meaning = { code: "access-denied", reason: "the credentials are not valid" };

/** Meanings of S3's own codes that say more than the status. */
const MEANINGS = new Map<string, Meaning>([
  ["SlowDown", busy],
  ["Throttling", busy],
  ["ThrottlingException", busy],
  ["RequestTimeout", { code: "transient", reason: "the server waited too long for the request" }],
  ["ConditionalRequestConflict", { code: "transient", reason: "another request conflicted" }],
  ["OperationAborted", { code: "transient", reason: "another request conflicted" }],
  ["InternalError", { code: "transient", reason: "the server failed" }],
  ["IncompleteBody", { code: "transient", reason: "the server received only part of the body" }],
  ["BadDigest", { code: "transient", reason: "the body was changed in transit" }],
  ["AccessDenied", { code: "access-denied", reason: "the server denies access" }],
  ["ExpiredToken", stale],
  ["ExpiredTokenException", stale],
  ["TokenRefreshRequired", stale],
  ["InvalidToken", wrongKey],
  ["InvalidAccessKeyId", wrongKey],
  ["SignatureDoesNotMatch", wrongKey],
  ["XAdminUserNotFound", wrongKey],
  [
    "RequestTimeTooSkewed",
    {
      code: "access-denied",
      reason: "the clocks of this machine and the server differ",
      hint: "Set the clock of this machine.",
    },
  ],
  ["PermanentRedirect", elsewhere],
  ["TemporaryRedirect", elsewhere],
  ["IllegalLocationConstraintException", elsewhere],
  ["AuthorizationHeaderMalformed", elsewhere],
  ["NoSuchBucket", { code: "not-found", reason: "the bucket does not exist" }],
  [
    "InvalidBucketName",
    { code: "invalid-option", reason: "this is not a valid bucket name", hint: BUCKET_HINT },
  ],
  [
    "InvalidObjectState",
    { code: "access-denied", reason: "the object is archived", hint: "Restore it first." },
  ],
  ["QuotaExceeded", { code: "no-space", reason: "the quota is exhausted" }],
  ["XMinioStorageFull", { code: "no-space", reason: "the server's disk is full" }],
  ["NoSuchUpload", { code: "source-changed", reason: "another program ended the upload" }],
]);

/**
 * Returns the code in the body of a failed response. The rest of the body may repeat what was sent, and is
 * ignored.
 */
export function s3CodeOf(body: string): string | undefined {
  const code = elementText(body, "Code");
  return code !== undefined && /^\w{1,64}$/.test(code) ? code : undefined;
}

/** Facts about a request that explain its failure. */
export interface RefusedRequest {
  /** The region that the response names. */
  readonly region?: string | undefined;
  /** True if an object was read, which may be missing. */
  readonly isRefusedRead?: boolean;
}

const DENIED_HINT =
  "Buckets that may be read but not listed answer this for missing keys: if this is one, use `missing403` (--missing-403). For a requester-pays bucket, set AWS_REQUEST_PAYER=requester.";

export function s3Failure(
  response: Parameters<typeof statusFailure>[0],
  code: string | undefined,
  { region, isRefusedRead = false }: RefusedRequest = {},
): ZarrflowError {
  const failure = statusFailure(response);
  if (code === undefined) return failure;
  const meaning = MEANINGS.get(code);
  const found = `${response.status} ${code}`;
  if (meaning === undefined) {
    return ZarrflowError.like({
      code: failure.code,
      reason: failure.reason,
      details: { ...failure.details, found },
    });
  }
  const { reason } = meaning;
  const hint =
    meaning === elsewhere && region !== undefined
      ? `According to the server the bucket is in ${region}: set AWS_REGION=${region}, or AWS_ENDPOINT_URL_S3 to its endpoint.`
      : code === "AccessDenied" && isRefusedRead
        ? DENIED_HINT
        : meaning.hint;
  const details = { found, ...(hint && { hint }) };
  if (meaning.code !== "transient") return new ZarrflowError(meaning.code, reason, details);
  const ofStatus = isZarrflowError(failure, "transient") ? failure.details : undefined;
  const { retryAfter, overload = meaning.overload } = ofStatus ?? {};
  return new ZarrflowError("transient", reason, {
    ...details,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(overload && { overload }),
  });
}
