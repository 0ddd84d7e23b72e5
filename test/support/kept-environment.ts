// The environment is the same object for all files of a process: `vi.stubEnv` changes it, and `vi.unstubAllEnvs` takes that
// back. A copy in its place would keep what is stubbed later.
Object.defineProperty(process, "env", { value: process.env, writable: false });
