/**
 * Suggests equals signs for sizes or ranges of dimensions written with a colon, such as `time:-1`. Undefined if the
 * text has no such colon.
 */
export function withEqualsSigns(text: string): string | undefined {
  const meant = text.replace(/(?<![^,:\s])([^\d:=,\s-][^:=,\s]*):(?=-?\d)/g, "$1=");
  return meant === text ? undefined : meant;
}
