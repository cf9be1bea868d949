import type { AerRate, Effects } from '../effects.ts'
import type { AerSegment } from './segment.ts'

/** PCIe errors that every device counts, as `severity/error`. Effects may add more. */
export const AER_NAMES: readonly string[] = ['RxErr', 'BadTLP', 'BadDLLP', 'Rollover', 'Timeout'].map(
  (error) => `correctable/${error}`,
)
/** Index of receiver errors among the names. Healthy links have only this kind. */
export const RECEIVER_ERRORS = 0

/** Errors that the receiving end counts; the sending end counts all others. */
export const RECEIVED_ERRORS: ReadonlySet<string> = new Set(
  ['RxErr', 'BadTLP', 'BadDLLP'].map((error) => `correctable/${error}`),
)

/** The given names, followed by the names in effects. Indexes of names never change. */
export function aerNamesOf(names: readonly string[], effects: readonly Effects[]): string[] {
  const all = new Set(names)
  for (const { spans } of effects) {
    for (const { gpus, nics } of spans) {
      for (const effect of [...Object.values(gpus ?? {}), ...Object.values(nics ?? {})]) {
        for (const { severity, error } of effect?.aer ?? []) all.add(`${severity}/${error}`)
      }
    }
  }
  return [...all]
}

/** PCIe errors that a device counts in a segment. */
export function aerSegment(
  names: readonly string[],
  base: Float64Array,
  rates: readonly AerRate[] | undefined,
): AerSegment {
  const perS = new Float64Array(names.length)
  for (const { severity, error, perS: rate } of rates ?? []) {
    const index = names.indexOf(`${severity}/${error}`)
    perS[index] = (perS[index] ?? 0) + rate
  }
  return { base, perS }
}
