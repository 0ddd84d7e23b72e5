import { ZarrflowError } from "../../util/errors.ts";
import { secretHeaders } from "../http/headers.ts";
import { connectionFailure, type HttpResponse, statusFailure } from "../http/http-response.ts";
import { readBodyText } from "../http/read-body.ts";
import { plainFetch } from "../http/runtime-fetch.ts";
import { fetchWithTimeout } from "../remote/fetch-with-timeout.ts";
import { machineFiles } from "../store-spec.ts";
import {
  dateOf,
  HOW_TO_SIGN,
  noCredentials,
  parseCredentials,
  type S3Credentials,
  type Variables,
} from "./credentials.ts";
import { elementText } from "./xml.ts";

/** A request to a service for credentials; its contents are never shown. */
export interface Question {
  readonly url: URL;
  readonly method?: "GET" | "PUT" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds for which the service may be silent. */
  readonly timeout: number;
}

/** Maximum size in bytes of a response of these services. */
const LONGEST_ANSWER = 100_000;

export interface TextAnswer {
  readonly response: HttpResponse;
  readonly text: string;
}

/** Returns the response of a service, whatever its status. @throws `transient` if there is no response. */
export async function ask({ url, timeout, headers, ...question }: Question): Promise<TextAnswer> {
  const init = { ...question, headers: secretHeaders(headers), redirect: "error" } as const;
  try {
    const response = await fetchWithTimeout(plainFetch(globalThis.fetch), url, init, { silence: timeout });
    return { text: await readBodyText(response, LONGEST_ANSWER), response };
  } catch (error) {
    throw connectionFailure(error, url.origin);
  }
}

/** Returns the text of a successful response. @throws `transient`, `access-denied` */
export function textOfGood({ text, response }: TextAnswer, from: string): string {
  if (response.ok) return text;
  const failure = statusFailure(response);
  if (failure.code === "transient") throw failure;
  throw new ZarrflowError("access-denied", `${from} returned no credentials`, {
    found: response.status,
    hint: HOW_TO_SIGN,
  });
}

const CONTAINER_SERVICE = "the container's credential service";
const CONTAINER_TIMEOUT = 5000;

/** Hosts of ECS and EKS that may use plain http; other hosts must prove their identity. */
const PLAIN_HOSTS =
  /^(?:localhost|127(?:\.\d+){3}|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/;

/** Fetches the credentials of the role of a container in ECS, or of a pod in EKS. */
export async function containerCredentials(variables: Variables): Promise<S3Credentials> {
  const url = containerEndpoint(variables);
  const file = variables.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  // The file changes, so it is read each time.
  const token = file ? await machineFiles().secret(file) : variables.AWS_CONTAINER_AUTHORIZATION_TOKEN;
  const headers: Record<string, string> = token ? { authorization: token } : {};
  return parseCredentials(
    textOfGood(await ask({ url, headers, timeout: CONTAINER_TIMEOUT }), CONTAINER_SERVICE),
    CONTAINER_SERVICE,
  );
}

function containerEndpoint(variables: Variables): URL {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative, AWS_CONTAINER_CREDENTIALS_FULL_URI: full = "" } =
    variables;
  if (relative) return new URL(relative, "http://169.254.170.2");
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && PLAIN_HOSTS.test(url.hostname))) return url;
  throw new ZarrflowError(
    "access-denied",
    "credentials must not be requested over plain http from other machines",
    {
      hint: "AWS_CONTAINER_CREDENTIALS_FULL_URI must start with https://, or name this machine or its container service.",
    },
  );
}

const METADATA_SERVICE = "this machine's metadata service";
const ROLES = "latest/meta-data/iam/security-credentials/";
/** Lifetime of a token in seconds; it is used immediately. */
const TOKEN_SECONDS = "60";

/**
 * Fetches the credentials of the role of an EC2 instance. If nobody answers, the machine is not an instance.
 *
 * @see version 2 of the instance metadata service
 */
export async function instanceCredentials(variables: Variables): Promise<S3Credentials> {
  const base = metadataEndpoint(variables);
  const timeout = 1000 * (Number(variables.AWS_METADATA_SERVICE_TIMEOUT) || 1);
  const answer = await ask({
    url: new URL("latest/api/token", base),
    method: "PUT",
    headers: { "x-aws-ec2-metadata-token-ttl-seconds": TOKEN_SECONDS },
    timeout,
  }).catch((error) => {
    throw noCredentials(error);
  });
  const headers = { "x-aws-ec2-metadata-token": textOfGood(answer, METADATA_SERVICE).trim() };
  const get = async (path: string) =>
    textOfGood(await ask({ url: new URL(path, base), headers, timeout }), METADATA_SERVICE);
  const [role = ""] = (await get(ROLES)).trim().split(/\s/);
  return parseCredentials(await get(ROLES + encodeURIComponent(role)), METADATA_SERVICE);
}

function metadataEndpoint(variables: Variables): string {
  const { AWS_EC2_METADATA_SERVICE_ENDPOINT: endpoint, AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE: mode } =
    variables;
  if (endpoint) return endpoint.replace(/\/?$/, "/");
  return mode?.toLowerCase() === "ipv6" ? "http://[fd00:ec2::254]/" : "http://169.254.169.254/";
}

const TOKEN_TIMEOUT = 10_000;

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
    url: tokenEndpoint(variables),
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: body.toString(),
    timeout: TOKEN_TIMEOUT,
  });
  const code = elementText(text, "Code");
  if (code === "IDPCommunicationError" || (!response.ok && statusFailure(response).code === "transient")) {
    throw new ZarrflowError("transient", "the token service is temporarily unavailable", {
      found: response.status,
    });
  }
  const accessKeyId = elementText(text, "AccessKeyId");
  const secretAccessKey = elementText(text, "SecretAccessKey");
  const sessionToken = elementText(text, "SessionToken");
  if (!response.ok || !accessKeyId || !secretAccessKey || !sessionToken) {
    throw refused(response.status, code);
  }
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken,
    expiration: dateOf(elementText(text, "Expiration") ?? ""),
  };
}

function tokenEndpoint({ AWS_ENDPOINT_URL_STS: endpoint, AWS_REGION, AWS_DEFAULT_REGION }: Variables): URL {
  const region = AWS_REGION || AWS_DEFAULT_REGION;
  return new URL(endpoint || (region ? `https://sts.${region}.amazonaws.com` : "https://sts.amazonaws.com"));
}

function refused(status: number, code: string | undefined): ZarrflowError {
  const isExpired = code === "ExpiredTokenException";
  return new ZarrflowError(
    "access-denied",
    isExpired ? "the token of the web identity has expired" : "the token service returned no credentials",
    {
      found: code !== undefined && /^\w{1,64}$/.test(code) ? `${status} ${code}` : status,
      hint: isExpired
        ? "The program that writes AWS_WEB_IDENTITY_TOKEN_FILE must renew it."
        : "AWS_ROLE_ARN must name a role that trusts the issuer of the token.",
    },
  );
}
