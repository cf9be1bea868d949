import type { Symbols } from '@sonde/sdk'

/** Symbols over a list of texts that may still grow. */
export function symbolsOf(texts: readonly string[]): Symbols {
  return {
    text: (id) => texts[id] ?? `?${id}`,
    since: (id) => texts.slice(id),
    get count() {
      return texts.length
    },
  }
}
