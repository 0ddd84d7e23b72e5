import { ZarrflowError } from "../../../util/errors.ts";
import { failureOf } from "../../http/http-failure.ts";
import { machineFiles } from "../../machine-files.ts";
import { dateOf, type S3Credentials, type Variables } from "../credentials.ts";
import { textOf } from "../xml.ts";
import { ask } from "./ask.ts";

const TIMEOUT = 10_000;

/** Fetches the credentials of a role for a token in a file. @see AssumeRoleWithWebIdentity of STS */
export async function webIdentityCredentials(variables: Variables): Promise<S3Credentials> {
  const { AWS_ROLE_ARN = "", AWS_WEB_IDENTITY_TOKEN_FILE = "", AWS_ROLE_SESSION_NAME } = variables;
  const body = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: AWS_ROLE_ARN,
    RoleSessionName: AWS_ROLE_SESSION_NAME || `zarrflow-${Date.now()}`,
    WebIdentityToken: await machineFiles().secret(AWS_WEB_IDENTITY_TOKEN_FILE),
  });
  const { text, response } = await ask({
    url: endpointOf(variables),
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: body.toString(),
    timeout: TIMEOUT,
  });
  const code = textOf(text, "Code");
  if (code === "IDPCommunicationError" || (!response.ok && failureOf(response).code === "transient")) {
    throw new ZarrflowError("transient", "the token service is temporarily unavailable", {
      found: response.status,
    });
  }
  const accessKeyId = textOf(text, "AccessKeyId");
  const secretAccessKey = textOf(text, "SecretAccessKey");
  const sessionToken = textOf(text, "SessionToken");
  if (!response.ok || !accessKeyId || !secretAccessKey || !sessionToken) {
    throw refused(response.status, code);
  }
  return { accessKeyId, secretAccessKey, sessionToken, expiration: dateOf(textOf(text, "Expiration") ?? "") };
}

function endpointOf({ AWS_ENDPOINT_URL_STS: endpoint, AWS_REGION, AWS_DEFAULT_REGION }: Variables): URL {
  const region = AWS_REGION || AWS_DEFAULT_REGION;
  return new URL(endpoint || (region ? `https://sts.${region}.amazonaws.com` : "https://sts.amazonaws.com"));
}

function refused(status: number, code: string | undefined): ZarrflowError {
  const isExpired = code === "ExpiredTokenException";
  return new ZarrflowError(
    "access-denied",
    isExpired ? "the token of the web identity has expired" : "the token service returns no credentials",
    {
      found: code !== undefined && /^\w{1,64}$/.test(code) ? `${status} ${code}` : status,
      hint: isExpired
        ? "The program that writes AWS_WEB_IDENTITY_TOKEN_FILE must renew it."
        : "AWS_ROLE_ARN must be a role that trusts the issuer of the token.",
    },
  );
}
