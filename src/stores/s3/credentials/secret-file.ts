/**
 * Reads a token from a file, without surrounding white space. @throws `access-denied` and others, with the file
 * name.
 */
export async function secretFile(path: string): Promise<string> {
  const [{ readFile }, { fileError }] = await Promise.all([
    import("node:fs/promises"),
    import("../../files/file-error.ts"),
  ]);
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    throw fileError(error, { store: `file ${path}` });
  }
}
