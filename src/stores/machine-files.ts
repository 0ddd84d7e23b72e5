import { ZarrflowError } from "../util/errors.ts";
import { files } from "./files.node.ts";

/** Returns the access to files of this machine. @throws `unsupported-operation` in browsers, which have none. */
export function machineFiles(): NonNullable<typeof files> {
  if (files !== undefined) return files;
  throw new ZarrflowError("unsupported-operation", "files and folders of this machine have no paths here", {
    hint: "Use a URL (https://, s3://, memory:), or a store that the program has opened.",
  });
}
