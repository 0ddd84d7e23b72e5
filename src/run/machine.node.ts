type Scratches = typeof import("./scratch/scratch-folder.node.ts");

interface Machine {
  openScratch: Scratches["openScratchFolder"];
  removeScratch: Scratches["removeLeftFolders"];
  arrow(): Promise<typeof import("apache-arrow")>;
  parquet(): Promise<typeof import("hyparquet-writer")>;
}

const here: Machine = {
  openScratch: async (path, options) =>
    (await import("./scratch/scratch-folder.node.ts")).openScratchFolder(path, options),
  removeScratch: async (path) => (await import("./scratch/scratch-folder.node.ts")).removeLeftFolders(path),
  arrow: () => import("apache-arrow"),
  parquet: () => import("hyparquet-writer"),
};

/** Features that flows need from the machine besides files: a place for scratch objects and optional packages. */
export const machine: Machine | undefined = here;
