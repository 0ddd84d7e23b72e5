/** A process, as it left word of itself for others to find. */
export interface ProcessRecord {
  readonly host?: string;
  readonly pid?: number;
  /** The machine's start, and the namespace of process numbers, both where the system tells: with them `pid` is one process. */
  readonly boot?: string;
  readonly namespace?: string;
}

/** The fields of a record that somebody may have edited. */
export function processRecordOf(fields: { readonly [name: string]: unknown }): ProcessRecord {
  const { host, pid, boot, namespace } = fields;
  return {
    ...(typeof host === "string" && { host }),
    ...(typeof pid === "number" && { pid }),
    ...(typeof boot === "string" && { boot }),
    ...(typeof namespace === "string" && { namespace }),
  };
}
