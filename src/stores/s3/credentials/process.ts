import { ZarrflowError } from "../../../util/errors.ts";
import { parseCredentials, type S3Credentials } from "../credentials.ts";

const TIMEOUT = 60_000;

/** Reads the credentials that a program writes to its standard output. @see credential_process of a profile */
export async function processCredentials(command: string): Promise<S3Credentials> {
  const [{ exec }, { promisify }] = await Promise.all([import("node:child_process"), import("node:util")]);
  let output: string;
  try {
    ({ stdout: output } = await promisify(exec)(command, { timeout: TIMEOUT, encoding: "utf8" }));
  } catch {
    // The output of the program and its command line may contain secrets.
    throw new ZarrflowError("access-denied", "the profile's credential_process failed", {
      hint: "Run the program by hand to see why.",
    });
  }
  return parseCredentials(output, "the profile's credential_process");
}
