/** Encodes a part of a path except for colons and `@`, which are legal and keep addresses readable. */
export function pathPart(text: string): string {
  return encodeURIComponent(text).replaceAll('%3A', ':').replaceAll('%40', '@')
}
