/** A process, as it left word of itself for others to find. */
export interface ProcessRecord {
  readonly host?: string;
  readonly pid?: number;
  /** The machine's start, and the namespace of process numbers, both where the system has them: with them `pid` is one process. */
  readonly boot?: string;
  readonly namespace?: string;
  /** When the process was started, in ticks since the machine's start: another one may get its number later. */
  readonly started?: string;
}

/** The fields of a record that somebody may have edited. */
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
