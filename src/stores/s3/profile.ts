/** Names of a profile's settings, and the variables that mean the same. */
const SETTINGS = new Map([
  ["aws_access_key_id", "AWS_ACCESS_KEY_ID"],
  ["aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"],
  ["aws_session_token", "AWS_SESSION_TOKEN"],
  ["region", "AWS_REGION"],
  ["endpoint_url", "AWS_ENDPOINT_URL"],
]);

/**
 * The settings of a profile in the texts of `~/.aws/config` and `~/.aws/credentials`, by the names of the variables
 * that mean the same; of a name that both have, the credentials' counts.
 */
export function profileSettings(
  profile: string,
  texts: { readonly config: string; readonly credentials: string },
): Record<string, string> {
  const inConfig = profile === "default" ? ["default"] : [`profile ${profile}`];
  return { ...sectionOf(texts.config, inConfig), ...sectionOf(texts.credentials, [profile]) };
}

function sectionOf(text: string, names: readonly string[]): Record<string, string> {
  const settings: Record<string, string> = {};
  let isOurs = false;
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (section !== undefined) isOurs = names.includes(section.replace(/\s+/g, " "));
    const [, name = "", value = ""] = (isOurs && /^\s*([a-z_]+)\s*=\s*(.*?)\s*$/.exec(line)) || [];
    const variable = SETTINGS.get(name);
    if (variable !== undefined) settings[variable] = value;
  }
  return settings;
}

/** The profile's settings from the files of this machine; none where there are no files. */
export async function readProfile(
  env: Readonly<Record<string, string | undefined>>,
): Promise<Record<string, string>> {
  const [{ homedir }, { join }] = await Promise.all([import("node:os"), import("node:path")]);
  const file = (variable: string, name: string) => env[variable] ?? join(homedir(), ".aws", name);
  const [config, credentials] = await Promise.all([
    textOf(file("AWS_CONFIG_FILE", "config")),
    textOf(file("AWS_SHARED_CREDENTIALS_FILE", "credentials")),
  ]);
  return profileSettings(env.AWS_PROFILE ?? "default", { config, credentials });
}

async function textOf(path: string): Promise<string> {
  const [{ readFile }, { fileError, isMissing }] = await Promise.all([
    import("node:fs/promises"),
    import("../file-error.ts"),
  ]);
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return "";
    throw fileError(error, { store: `file ${path}` });
  }
}
