/** An option of a combo box, with a line that describes it. */
export interface ComboOption {
  readonly value: string
  readonly note?: string
  /** Other names; found by the search like the value, but not shown. */
  readonly names?: readonly string[]
}

/**
 * Options that contain every word of a text. Best matches come first: equal name, start of a name, start of a word,
 * inside of a name, and names together with the note.
 */
export function rankOptions<Option extends ComboOption>(options: readonly Option[], text: string): readonly Option[] {
  const sought = text.trim().toLowerCase()
  const words = sought.split(/[\s_]+/).filter(Boolean)
  if (words.length === 0) return options
  const rankOf = ({ value, note = '', names = [] }: Option): number => {
    const called = [value, ...names].map((name) => name.toLowerCase())
    const best = Math.min(...called.map((name) => nameRank(name, sought, words)))
    if (Number.isFinite(best)) return best
    const all = `${called.join(' ')} ${note.toLowerCase()}`
    return words.every((word) => all.includes(word)) ? 4 : Number.POSITIVE_INFINITY
  }
  return options
    .map((option) => ({ option, rank: rankOf(option) }))
    .filter(({ rank }) => Number.isFinite(rank))
    .sort((a, b) => a.rank - b.rank)
    .map(({ option }) => option)
}

function nameRank(name: string, sought: string, words: readonly string[]): number {
  if (name === sought) return 0
  if (name.startsWith(sought)) return 1
  const parts = name.split(/[^\p{L}\p{N}]+/u)
  if (words.every((word) => parts.some((part) => part.startsWith(word)))) return 2
  return words.every((word) => name.includes(word)) ? 3 : Number.POSITIVE_INFINITY
}
