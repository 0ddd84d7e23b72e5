/** Bytes that all buffers of a flow may take together unless the caller sets a budget. */
export const DEFAULT_MAX_MEMORY = 256e6;
