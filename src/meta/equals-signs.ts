/**
 * What was probably meant by sizes or ranges of dimensions that are given with a colon, `time:-1`: the same with an
 * equals sign. Undefined where the text has no such colon.
 */
export function withEqualsSigns(text: string): string | undefined {
  const meant = text.replace(/(?<![^,:\s])([^\d:=,\s-][^:=,\s]*):(?=-?\d)/g, "$1=");
  return meant === text ? undefined : meant;
}
