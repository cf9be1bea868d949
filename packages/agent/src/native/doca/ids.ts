/** IDs that are named in a message; of more, their number is. */
const NAMED_COUNT = 16

/** A data ID as people and rules write it. */
export function idText(id: bigint): string {
  return `0x${id.toString(16).padStart(16, '0')}`
}

/** Data IDs in words: the first of many, and how many more there are. */
export function idsText(ids: readonly bigint[]): string {
  const more = ids.length - NAMED_COUNT
  return `${ids.slice(0, NAMED_COUNT).map(idText).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
