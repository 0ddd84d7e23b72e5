import { S3Store } from "../s3.ts";
import type { StoreSpec } from "../store.ts";
import { credentialsOf, noCredentials } from "./credentials.ts";
import { readProfile } from "./profile.ts";

/** What a place in S3 is called; how to reach it is a matter of the machine. */
export type S3Spec = Extract<StoreSpec, { readonly kind: "s3" }>;

/**
 * Opens a place in S3 as the environment says: by `AWS_*` variables, then by the profile that `AWS_PROFILE` names.
 * `AWS_NO_SIGN_REQUEST` reads public data without credentials.
 *
 * @throws `access-denied` where there are no credentials, before any request.
 */
export async function openS3({ bucket, prefix }: S3Spec): Promise<S3Store> {
  const env = globalThis.process?.env ?? {};
  const settings = { ...(await readProfile(env)), ...withoutEmpty(env) };
  const credentials = credentialsOf(settings);
  if (credentials === undefined) throw noCredentials().addContext({ store: `s3://${bucket}` });
  const { AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = settings;
  const region = AWS_REGION ?? AWS_DEFAULT_REGION;
  const endpoint = AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL;
  return new S3Store({
    bucket,
    prefix,
    credentials,
    ...(region && { region }),
    ...(endpoint && { endpoint }),
  });
}

function withoutEmpty(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}
