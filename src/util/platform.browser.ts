export const isNode = false;

export const environment = () => ({});

export const isOnWindows = () => false;

export const currentFolder = () => "";

export const pageUrl = (path: string) => {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  const url = URL.canParse(path, base) ? new URL(path, base).href : undefined;
  return url?.startsWith("http") ? url : undefined;
};

export const builtin = () => undefined;

export const compiledKernels = undefined;
