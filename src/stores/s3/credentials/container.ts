import { ZarrflowError } from "../../../util/errors.ts";
import { machineFiles } from "../../machine-files.ts";
import { parseCredentials, type S3Credentials, type Variables } from "../credentials.ts";
import { ask, textOfGood } from "./ask.ts";

const FROM = "the container's credential service";
const TIMEOUT = 5000;

/** Hosts of ECS and EKS that may use plain http; other hosts must prove their identity. */
const PLAIN_HOSTS =
  /^(?:localhost|127(?:\.\d+){3}|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/;

/** Fetches the credentials of the role of a container in ECS, or of a pod in EKS. */
export async function containerCredentials(variables: Variables): Promise<S3Credentials> {
  const url = endpointOf(variables);
  const file = variables.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  // The file changes, so it is read each time.
  const token = file ? await machineFiles().secret(file) : variables.AWS_CONTAINER_AUTHORIZATION_TOKEN;
  const headers: Record<string, string> = token ? { authorization: token } : {};
  return parseCredentials(textOfGood(await ask({ url, headers, timeout: TIMEOUT }), FROM), FROM);
}

function endpointOf(variables: Variables): URL {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative, AWS_CONTAINER_CREDENTIALS_FULL_URI: full = "" } =
    variables;
  if (relative) return new URL(relative, "http://169.254.170.2");
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && PLAIN_HOSTS.test(url.hostname))) return url;
  throw new ZarrflowError(
    "access-denied",
    "credentials are not requested over plain http from other machines",
    {
      hint: "AWS_CONTAINER_CREDENTIALS_FULL_URI must start with https://, or name this machine or its container service.",
    },
  );
}
