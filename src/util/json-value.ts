/** A number token whose text JavaScript's own number would not give back, such as `1.0` or `18446744073709551615`. */
export class JsonNumber {
  /** The token as it stood in the document. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The nearest JavaScript number. */
  valueOf(): number {
    return Number(this.text);
  }
}

export type JsonValue = null | boolean | number | string | JsonNumber | JsonValue[] | JsonObject;
export interface JsonObject {
  [name: string]: JsonValue;
}
