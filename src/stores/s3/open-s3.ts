import { ZarrflowError } from "../../util/errors.ts";
import { builtin, environment } from "../../util/platform.node.ts";
import { files } from "../files.node.ts";
import { privateAccessOf } from "../remote/private-access.ts";
import { S3Store } from "../s3.ts";
import type { StoreSpec } from "../store.ts";
import { findCredentials } from "./credential-chain.ts";
import type { S3CredentialSource, Variables } from "./credentials.ts";
import type { S3Encryption } from "./s3-client.ts";

/** Name of a place in S3; the environment of the machine determines how it is reached. */
export type S3Spec = Extract<StoreSpec, { readonly kind: "s3" }>;

/**
 * Opens a place in S3 as the environment says: by `AWS_*` variables, then by the profile that `AWS_PROFILE` names.
 *
 * @throws `access-denied` if there are no credentials, before any request; `invalid-option` for invalid variables.
 */
export async function openS3(spec: S3Spec): Promise<S3Store> {
  const { bucket, prefix, anonymous, missing403, retry } = spec;
  const { beforeRequest, fetch } = privateAccessOf(spec);
  const env = withoutEmpty(environment());
  const profile = (await files?.profile(env)) ?? {};
  const settings = { ...profile, ...env };
  const region = settings.AWS_REGION ?? settings.AWS_DEFAULT_REGION;
  const endpoint = env.AWS_ENDPOINT_URL_S3 ?? settings.AWS_ENDPOINT_URL;
  const isVirtual = flagOf(settings.AWS_VIRTUAL_HOSTED_STYLE_REQUEST);
  const attempts = retry?.attempts ?? attemptsOf(settings);
  const encryption = encryptionOf(settings);
  return new S3Store({
    bucket,
    prefix,
    credentials: anonymous ? "anonymous" : credentialsFor(bucket, { env, profile }),
    ...(region && { region }),
    ...(endpoint && { endpoint }),
    ...(isVirtual !== undefined && { pathStyle: !isVirtual }),
    ...(settings.AWS_REQUEST_PAYER?.toLowerCase() === "requester" && { requesterPays: true }),
    ...(encryption && { encryption }),
    retry: { attempts, timeout: retry?.timeout },
    fetch,
    ...(missing403 && { missing403 }),
    ...(beforeRequest && { beforeRequest }),
  });
}

function credentialsFor(bucket: string, places: Parameters<typeof findCredentials>[0]): S3CredentialSource {
  try {
    return findCredentials(places);
  } catch (error) {
    throw error instanceof ZarrflowError ? error.addContext({ store: `s3://${bucket}` }) : error;
  }
}

function attemptsOf({ AWS_MAX_ATTEMPTS: text }: Variables): number | undefined {
  if (text === undefined || /^[1-9]\d{0,5}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new ZarrflowError("invalid-option", "AWS_MAX_ATTEMPTS must be a whole number, 1 or more", {
    found: text,
  });
}

function encryptionOf(settings: Variables): S3Encryption | undefined {
  const { AWS_SERVER_SIDE_ENCRYPTION: algorithm, AWS_SSE_KMS_KEY_ID: kmsKeyId } = settings;
  const customerKey = settings.AWS_SSE_CUSTOMER_KEY_BASE64;
  if (customerKey !== undefined) {
    const md5 = builtin("node:crypto")?.createHash("md5").update(customerKey, "base64").digest("base64");
    return { customerKey, customerKeyMd5: md5 ?? "" };
  }
  if (algorithm === undefined && kmsKeyId === undefined) return undefined;
  const bucketKey = flagOf(settings.AWS_SSE_BUCKET_KEY_ENABLED);
  return {
    algorithm: algorithm ?? "aws:kms",
    ...(kmsKeyId && { kmsKeyId }),
    ...(bucketKey !== undefined && { bucketKey }),
  };
}

function flagOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  return /^(?:1|true|yes|on)$/i.test(text);
}

function withoutEmpty(env: Variables): Variables {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}
