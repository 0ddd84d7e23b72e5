import { ZarrflowError } from "../../util/errors.ts";
import { parseCredentials, type S3Credentials, type Variables } from "./credentials.ts";

/** Variables with the same meaning as settings of a profile. */
const SETTINGS = new Map([
  ["aws_access_key_id", "AWS_ACCESS_KEY_ID"],
  ["aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"],
  ["aws_session_token", "AWS_SESSION_TOKEN"],
  ["region", "AWS_REGION"],
  ["endpoint_url", "AWS_ENDPOINT_URL"],
  ["max_attempts", "AWS_MAX_ATTEMPTS"],
  ["role_arn", "AWS_ROLE_ARN"],
  ["role_session_name", "AWS_ROLE_SESSION_NAME"],
  ["web_identity_token_file", "AWS_WEB_IDENTITY_TOKEN_FILE"],
]);

/** Settings that only a profile has. */
const OWN = ["credential_process", "source_profile", "credential_source", "sso_session", "sso_start_url"];

/**
 * Reads the settings of a profile from the texts of `~/.aws/config` and `~/.aws/credentials`, under the names of
 * the equivalent variables. The credentials file takes precedence. Undefined if neither has the profile.
 */
export function profileSettings(
  profile: string,
  texts: { readonly config: string; readonly credentials: string },
): Record<string, string> | undefined {
  const inConfig = profile === "default" ? ["default", "profile default"] : [`profile ${profile}`];
  const config = sectionOf(texts.config, inConfig);
  const credentials = sectionOf(texts.credentials, [profile]);
  return config || credentials ? { ...config, ...credentials } : undefined;
}

function sectionOf(text: string, names: readonly string[]): Record<string, string> | undefined {
  let settings: Record<string, string> | undefined;
  let isOurs = false;
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (section !== undefined) isOurs = names.includes(section.replace(/\s+/g, " "));
    if (isOurs) settings ??= {};
    const [, name = "", value = ""] = (isOurs && /^([a-z_]+)\s*=\s*(.*?)\s*$/.exec(line)) || [];
    const setting = OWN.includes(name) ? name : SETTINGS.get(name);
    if (settings && setting !== undefined) settings[setting] = value;
  }
  return settings;
}

/**
 * Reads the profile's settings from the files of this machine; none if there are no files.
 *
 * @throws `invalid-option` if neither file has the requested profile.
 */
export async function readProfile(env: Variables): Promise<Record<string, string>> {
  const [{ homedir }, { join }] = await Promise.all([import("node:os"), import("node:path")]);
  const file = (variable: string, name: string) => env[variable] ?? join(homedir(), ".aws", name);
  const [config, credentials] = await Promise.all([
    textOf(file("AWS_CONFIG_FILE", "config")),
    textOf(file("AWS_SHARED_CREDENTIALS_FILE", "credentials")),
  ]);
  const settings = profileSettings(env.AWS_PROFILE ?? "default", { config, credentials });
  if (settings !== undefined || env.AWS_PROFILE === undefined) return settings ?? {};
  throw new ZarrflowError("invalid-option", `the profile ${env.AWS_PROFILE} does not exist`, {
    hint: "AWS_PROFILE must name a section of ~/.aws/config or ~/.aws/credentials.",
  });
}

async function textOf(path: string): Promise<string> {
  const [{ readFile }, { fileError, isMissing }] = await Promise.all([
    import("node:fs/promises"),
    import("../files/file-error.ts"),
  ]);
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return "";
    throw fileError(error, { store: `file ${path}` });
  }
}

const PROCESS_TIMEOUT = 60_000;

/** Reads the credentials that a program writes to its standard output. @see credential_process of a profile */
export async function processCredentials(command: string): Promise<S3Credentials> {
  const [{ exec }, { promisify }] = await Promise.all([import("node:child_process"), import("node:util")]);
  let output: string;
  try {
    ({ stdout: output } = await promisify(exec)(command, { timeout: PROCESS_TIMEOUT, encoding: "utf8" }));
  } catch {
    // The output of the program and its command line may contain secrets.
    throw new ZarrflowError("access-denied", "the profile's credential_process failed", {
      hint: "Run the program manually to see why.",
    });
  }
  return parseCredentials(output, "the profile's credential_process");
}

/**
 * Reads a token from a file, without surrounding white space. @throws `access-denied` and others, with the file
 * name.
 */
export async function secretFile(path: string): Promise<string> {
  const [{ readFile }, { fileError }] = await Promise.all([
    import("node:fs/promises"),
    import("../files/file-error.ts"),
  ]);
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    throw fileError(error, { store: `file ${path}` });
  }
}
