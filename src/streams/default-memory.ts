/** Bytes that all buffers of a flow may take together, where nobody says how many. */
export const DEFAULT_MAX_MEMORY = 256e6;
