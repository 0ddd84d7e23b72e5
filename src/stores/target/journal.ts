/** Lines of text that a run leaves as it goes on, where its target is built, until that is published. */
export interface Journal {
  /** Its place, for messages. */
  readonly description: string;
  /** What distinguishes this start of the machine from another, where the system has it: what is not put on the disk may be lost at one. */
  readonly boot: string | undefined;
  /** Whether what is written at its place outlives the machine's next start as soon as the call resolves: it is kept elsewhere. */
  readonly isDurable?: boolean;
  /** The lines that are there, each as it was added; what was cut, or changed, is left out. */
  lines(): AsyncIterable<string>;
  /**
   * Adds a line, given without its end, after all that were added before.
   *
   * @throws what keeps them from being kept, or kept one that was added before.
   */
  append(line: string): void;
  /** Resolves when all that was added is kept. */
  flush(): Promise<void>;
  /** Nothing more is added. */
  close(): Promise<void>;
}
