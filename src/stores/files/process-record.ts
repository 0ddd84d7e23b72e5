/** A process, as it recorded itself for others to find. */
export interface ProcessRecord {
  readonly host?: string;
  readonly pid?: number;
  /**
   * Identifiers of the machine's boot and of the process namespace, if the system has both: with them, `pid`
   * identifies one process.
   */
  readonly boot?: string;
  readonly namespace?: string;
  /** Start time of the process in ticks since boot: its number may be reused later. */
  readonly started?: string;
}

/** Returns the valid fields of a record, which someone may have edited. */
export function processRecordOf(fields: { readonly [name: string]: unknown }): ProcessRecord {
  const { host, pid, boot, namespace, started } = fields;
  return {
    ...(typeof host === "string" && { host }),
    ...(typeof pid === "number" && { pid }),
    ...(typeof boot === "string" && { boot }),
    ...(typeof namespace === "string" && { namespace }),
    ...(typeof started === "string" && { started }),
  };
}
