const ENTITIES = new Map(Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }));

/**
 * Returns the contents of each element `name` in a response of S3, in which elements of one name are never nested.
 * Not a general XML parser: comments and CDATA, which S3 does not send, are not handled.
 */
export function elements(xml: string, name: string): string[] {
  const found: string[] = [];
  const open = `<${name}>`;
  const close = `</${name}>`;
  for (let at = xml.indexOf(open); at >= 0; ) {
    const end = xml.indexOf(close, at);
    if (end < 0) break;
    found.push(xml.slice(at + open.length, end));
    at = xml.indexOf(open, end);
  }
  return found;
}

/** Returns the text of the first element `name`. */
export function elementText(xml: string, name: string): string | undefined {
  return elements(xml, name)[0]?.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (entity, hex, decimal, word) => {
      if (word !== undefined) return ENTITIES.get(word) ?? entity;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
    },
  );
}

/** True if a response ends with the end of its element `root`, or is that element without content. */
export function isComplete(xml: string, root: string): boolean {
  const end = xml.slice(-1000).trimEnd();
  return (
    end.endsWith(`</${root}>`) || (end.endsWith("/>") && end.lastIndexOf(`<${root}`) === end.lastIndexOf("<"))
  );
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
