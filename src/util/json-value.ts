/** A number token that a JavaScript number would not reproduce, such as `1.0` or `18446744073709551615`. */
export class JsonNumber {
  /** The token as written in the document. */
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

/** Sets an own property, whatever its name. */
export function setMember(object: JsonObject, name: string, value: JsonValue): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}
