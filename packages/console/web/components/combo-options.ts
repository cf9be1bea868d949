/** Something that can be chosen, and a line that says what it is. */
export interface ComboOption {
  readonly value: string
  readonly note?: string
}

/**
 * Options that contain every word of a text: the one whose value is the text, those whose value begins with it, those whose value has
 * the words, those whose note has them.
 */
export function rankOptions<Option extends ComboOption>(options: readonly Option[], text: string): readonly Option[] {
  const words = text
    .toLowerCase()
    .split(/[\s_]+/)
    .filter(Boolean)
  if (words.length === 0) return options
  const sought = text.trim().toLowerCase()
  const rankOf = ({ value, note = '' }: Option): number => {
    const name = value.toLowerCase()
    if (name === sought) return 0
    if (name.startsWith(sought)) return 1
    if (words.every((word) => name.includes(word))) return 2
    return words.every((word) => `${name} ${note.toLowerCase()}`.includes(word)) ? 3 : Number.POSITIVE_INFINITY
  }
  return options
    .map((option) => ({ option, rank: rankOf(option) }))
    .filter(({ rank }) => Number.isFinite(rank))
    .sort((a, b) => a.rank - b.rank)
    .map(({ option }) => option)
}
