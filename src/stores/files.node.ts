import type { DirectoryStoreOptions } from "./directory.ts";
import type { Variables } from "./s3/credentials.ts";

const here = {
  openDirectory: async (path: string, options: DirectoryStoreOptions) =>
    new (await import("./directory.ts")).DirectoryStore(path, options),
  openFile: async (path: string) => (await import("./files/file-reader.ts")).FileReader.open(path),
  /** Returns the real path of a place that need not exist yet. */
  realPath: async (path: string) => (await import("./files/file-reader.ts")).realPath(path),
  processes: () => import("./files/process-record.node.ts"),
  fetch: () => import("./http/fetch-by-http.ts"),
  yazl: () => import("yazl"),
  profile: async (env: Variables) => (await import("./s3/credential-files.ts")).readProfile(env),
  credentialsOf: async (command: string) =>
    (await import("./s3/credential-files.ts")).processCredentials(command),
  secret: async (path: string) => (await import("./s3/credential-files.ts")).secretFile(path),
};

/**
 * Access to files, programs and the network of this machine, each part loaded on first use; undefined in browsers.
 */
export const files: typeof here | undefined = here;
