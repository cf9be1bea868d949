/** How keys are written: `snake` in files, `camel` in programs. */
export type Spelling = 'snake' | 'camel'

/** A key of a program as files have it: `idleS` is `idle_s`. */
export function snakeOf(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function camelOf(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** A name in a spelling, whichever it has. */
export function spelled(name: string, spelling: Spelling): string {
  return spelling === 'snake' ? snakeOf(name) : camelOf(name)
}

/** Entries of a block, or its values, with their keys in a spelling. */
export function respelled<T>(block: Readonly<Record<string, T>>, spelling: Spelling): Record<string, T> {
  return Object.fromEntries(Object.entries(block).map(([key, value]) => [spelled(key, spelling), value]))
}
