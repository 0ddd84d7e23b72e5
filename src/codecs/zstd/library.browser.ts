export const zstdLibrary = () => undefined;
