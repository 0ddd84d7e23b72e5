import { ZarrflowError } from "../../util/errors.ts";
import { isNode } from "../../util/platform.node.ts";
import { retrier } from "../remote/retry-requests.ts";
import { machineFiles } from "../store-spec.ts";
import {
  Credentials,
  credentialsOf,
  noCredentials,
  type S3CredentialSource,
  type S3Credentials,
  type Variables,
} from "./credentials.ts";

export interface CredentialPlaces {
  readonly env: Variables;
  readonly profile: Variables;
}

/**
 * Finds the first available source of credentials: variables, the profile, a web identity, the container, the
 * instance. Credentials are fetched on first use, once for all stores of this process, and renewed before they
 * expire.
 *
 * @throws `access-denied` without any credentials, `unsupported-operation` for a kind of profile that is not supported.
 */
export function findCredentials({ env, profile }: CredentialPlaces): S3CredentialSource {
  const settings = { ...profile, ...env };
  if (/^(?:1|true|yes|on)$/i.test(settings.AWS_NO_SIGN_REQUEST ?? "")) return "anonymous";
  const fixed = credentialsOf(env) ?? credentialsOf(profile);
  if (fixed !== undefined) return fixed;
  const { credential_process: command } = profile;
  if (command) {
    return shared(command, () => machineFiles().credentialsOf(command));
  }
  if (profile.source_profile || profile.credential_source || profile.sso_session || profile.sso_start_url) {
    throw otherTool(env.AWS_PROFILE);
  }
  return fetched(settings);
}

function fetched(settings: Variables): S3CredentialSource {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_ARN: role } = settings;
  if (tokenFile && role) {
    const from = `web identity ${role} ${tokenFile} ${settings.AWS_ENDPOINT_URL_STS}`;
    return shared(from, async () =>
      (await import("./credential-sources.ts")).webIdentityCredentials(settings),
    );
  }
  const uri = settings.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI ?? settings.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (uri) {
    return shared(`container ${uri}`, async () =>
      (await import("./credential-sources.ts")).containerCredentials(settings),
    );
  }
  if (!isNode || /^true$/i.test(settings.AWS_EC2_METADATA_DISABLED ?? "")) throw noCredentials();
  return shared(`instance ${settings.AWS_EC2_METADATA_SERVICE_ENDPOINT}`, async () => {
    const { instanceCredentials } = await import("./credential-sources.ts");
    return instanceCredentials(settings);
  });
}

const sources = new Map<string, () => Promise<S3Credentials>>();

/** Returns a source that all stores of this process share, by a name for its origin. */
function shared(name: string, fetchThem: () => Promise<S3Credentials>): S3CredentialSource {
  const known = sources.get(name);
  if (known !== undefined) return known;
  const retry = retrier("credentials");
  const credentials = new Credentials(() => retry({ operation: "fetch", key: "" }, fetchThem, undefined));
  const source = async () => {
    const current = await credentials.current();
    if (current === undefined) throw noCredentials();
    return current;
  };
  sources.set(name, source);
  return source;
}

function otherTool(profile = "default"): ZarrflowError {
  return new ZarrflowError(
    "unsupported-operation",
    `the profile ${profile} assumes a role or uses single sign-on, which zarrflow does not support`,
    {
      hint: `Use another profile that has the line \`credential_process = aws configure export-credentials --profile ${profile}\`.`,
    },
  );
}
