/** The spelling of keys: `snake` in files, `camel` in programs. */
export type Spelling = 'snake' | 'camel'

/** A key of programs in the spelling of files: `idleS` is `idle_s`. */
export function snakeOf(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function camelOf(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** A name of either spelling, in the given spelling. */
export function spelled(name: string, spelling: Spelling): string {
  return spelling === 'snake' ? snakeOf(name) : camelOf(name)
}

/** A block with its keys in the given spelling. */
export function respelled<T>(block: Readonly<Record<string, T>>, spelling: Spelling): Record<string, T> {
  return Object.fromEntries(Object.entries(block).map(([key, value]) => [spelled(key, spelling), value]))
}
