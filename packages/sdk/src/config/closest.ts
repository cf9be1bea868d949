/** The most edits between a misspelt and a known word: a letter added, removed or replaced, or two letters swapped. */
const EDIT_LIMIT = 2
/**
 * Longer words are not compared: candidates may come from strangers, and the time grows with the square of the length.
 */
const WORD_LENGTH_MAX = 64

/**
 * The candidate closest to a misspelt word. Undefined if no candidate is within two edits or a third of its length, and
 * for words over 64 characters.
 */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > WORD_LENGTH_MAX) return undefined
  const limit = Math.min(EDIT_LIMIT, Math.floor(word.length / 3))
  let best: string | undefined
  let bestEdits = limit + 1
  for (const candidate of candidates) {
    const edits = Math.abs(candidate.length - word.length) > limit ? bestEdits : editsBetween(word, candidate)
    if (edits < bestEdits) {
      best = candidate
      bestEdits = edits
    }
  }
  return best
}

/** Optimal string alignment distance. */
function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const other = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min((row[j - 1] ?? 0) + 1, (last[j] ?? 0) + 1, (last[j - 1] ?? 0) + other)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1)
      row.push(least)
    }
    beforeLast = last
    last = row
  }
  return last[b.length] ?? 0
}
