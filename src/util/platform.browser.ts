export const isNode = false;

export const environment = () => ({});

export const isOnWindows = () => false;

export const currentFolder = () => "";

export const builtin = () => undefined;

export const compiledKernels = undefined;
