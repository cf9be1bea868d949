import { closest } from './closest.ts'

/** The names of the options `T`, as a record, so that the compiler finds a missing name. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>

/**
 * The fault of the first unknown option, with the closest known option; undefined if all options are known.
 */
export function unknownOption<T>(given: object, known: OptionNames<T>): string | undefined {
  const names = Object.keys(known)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown === undefined) return undefined
  const meant = closest(unknown, names)
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
  return `${JSON.stringify(unknown.slice(0, 100))} is no option${hint}; allowed: ${names.join(', ')}`
}
