/** Characters that control a terminal, or the direction of writing. */
const ACTIVE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Makes untrusted text safe to print on one line: escapes control and direction characters. */
export function printable(text: string): string {
  return text.replace(ACTIVE, escaped);
}

/** The same for text of several lines. */
export function printableLines(text: string): string {
  return text.replace(ACTIVE, (character) => (character === "\n" ? character : escaped(character)));
}

/** The same for JSON, whose value does not change. */
export function printableJson(json: string): string {
  return json.replace(ACTIVE, (character) => {
    if (character === "\n") return character;
    return Array.from({ length: character.length }, (_, i) => unit(character.charCodeAt(i))).join("");
  });
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}
