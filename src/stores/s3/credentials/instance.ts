import { noCredentials, parseCredentials, type S3Credentials, type Variables } from "../credentials.ts";
import { ask, textOfGood } from "./ask.ts";

const FROM = "this machine's metadata service";
const ROLES = "latest/meta-data/iam/security-credentials/";
/** Lifetime of a token in seconds; it is used at once. */
const TOKEN_SECONDS = "60";

/**
 * Fetches the credentials of the role of an EC2 instance. If nobody answers, the machine is not an instance.
 *
 * @see version 2 of the instance metadata service
 */
export async function instanceCredentials(variables: Variables): Promise<S3Credentials> {
  const base = endpointOf(variables);
  const timeout = 1000 * (Number(variables.AWS_METADATA_SERVICE_TIMEOUT) || 1);
  const answer = await ask({
    url: new URL("latest/api/token", base),
    method: "PUT",
    headers: { "x-aws-ec2-metadata-token-ttl-seconds": TOKEN_SECONDS },
    timeout,
  }).catch((error) => {
    throw noCredentials(error);
  });
  const headers = { "x-aws-ec2-metadata-token": textOfGood(answer, FROM).trim() };
  const get = async (path: string) =>
    textOfGood(await ask({ url: new URL(path, base), headers, timeout }), FROM);
  const [role = ""] = (await get(ROLES)).trim().split(/\s/);
  return parseCredentials(await get(ROLES + encodeURIComponent(role)), FROM);
}

function endpointOf(variables: Variables): string {
  const { AWS_EC2_METADATA_SERVICE_ENDPOINT: endpoint, AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE: mode } =
    variables;
  if (endpoint) return endpoint.replace(/\/?$/, "/");
  return mode?.toLowerCase() === "ipv6" ? "http://[fd00:ec2::254]/" : "http://169.254.169.254/";
}
