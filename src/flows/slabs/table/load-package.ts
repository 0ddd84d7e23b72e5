import { ZarrflowError } from "../../../util/errors.ts";

/**
 * Loads an optional package that users install to write its format.
 *
 * @throws `unsupported-operation` with the command to install it, if it is missing
 */
export async function loadPackage<T>(
  load: (() => Promise<T>) | undefined,
  name: string,
  format: string,
): Promise<T> {
  if (load === undefined) {
    throw new ZarrflowError("unsupported-operation", `${format} is not written in browsers`, {
      hint: "Choose another format: raw, npy, npz, json, ndjson or csv.",
    });
  }
  return importPackage(load, name, `${format} is written`);
}

/**
 * Loads an optional package that users install.
 *
 * @throws `unsupported-operation` with the command to install it, if it is missing
 */
export async function importPackage<T>(load: () => Promise<T>, name: string, what: string): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const { code, message = "" } = cause as NodeJS.ErrnoException;
    const isAbsent = code === "ERR_MODULE_NOT_FOUND" && message.includes(`'${name.replace(/@.*/, "")}'`);
    if (!isAbsent) throw cause;
    throw new ZarrflowError(
      "unsupported-operation",
      `${what} by a package that is not installed`,
      {
        expected: name.replace(/@.*/, ""),
        hint: `Install it beside zarrflow: npm install ${name}.`,
      },
      { cause },
    );
  }
}
