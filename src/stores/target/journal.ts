/** Lines of text in which a run records its progress beside its target, until the target is published. */
export interface Journal {
  /** Place of the journal, for messages. */
  readonly description: string;
  /**
   * Identifies the current boot of the machine, if the system has such an identifier: unflushed data may be lost
   * at the next boot.
   */
  readonly boot: string | undefined;
  /**
   * True if written data survives a reboot of this machine as soon as the call resolves, because it is stored
   * elsewhere.
   */
  readonly isDurable?: boolean;
  /** Returns the lines as they were added, without incomplete or altered ones. */
  lines(): AsyncIterable<string>;
  /**
   * Appends a line, given without its line break.
   *
   * @throws the error that prevents storing it, or prevented storing an earlier line.
   */
  append(line: string): void;
  /** Resolves when all added lines are stored. */
  flush(): Promise<void>;
  /** Ends writing. */
  close(): Promise<void>;
}
