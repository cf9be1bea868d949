import { closest } from './closest.ts'

/** The names of the options `T`: a record, so that none is forgotten. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>

/**
 * What is wrong with the first name among `given` that is no option, with the one that was perhaps meant; undefined
 * where all are.
 */
export function unknownOption<T>(given: object, known: OptionNames<T>): string | undefined {
  const names = Object.keys(known)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown === undefined) return undefined
  const meant = closest(unknown, names)
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
  return `${JSON.stringify(unknown.slice(0, 100))} is no option${hint}; allowed: ${names.join(', ')}`
}
