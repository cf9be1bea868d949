/** Tense of a sentence: about now or about the past. */
export type Tense = 'present' | 'past'

/** The verb for a count: `is`, `are`, `was`, `were`. */
export function be(count: number, tense: Tense): string {
  if (tense === 'past') return count === 1 ? 'was' : 'were'
  return count === 1 ? 'is' : 'are'
}

/** Turns words of a source into a sentence; empty stays empty. A first word such as a path keeps its spelling. */
export function asSentence(words: string): string {
  if (words === '') return ''
  const isWord = /^[a-z]+ /.test(words)
  const begun = isWord ? words.charAt(0).toUpperCase() + words.slice(1) : words
  return /[.?!]$/.test(begun) ? begun : `${begun}.`
}
