import { SondeError } from '../errors.ts'
import type { Labels } from '../schema/series.ts'
import { SERIES_COUNT_LIMIT } from './form.ts'

/** A series counts once for each of these of its labels. Unit: characters. */
const SERIES_CHARACTERS = 256

/**
 * How many series one question may match. Series of long labels count as several: their labels are read, written out
 * and sent for each.
 */
export class SeriesBudget {
  readonly #metric: string
  #left = SERIES_COUNT_LIMIT

  constructor(metric: string) {
    this.#metric = metric
  }

  /**
   * Takes the room of one series.
   *
   * @throws SondeError `QRY_SERIES_LIMIT` if none is left.
   */
  take(labels: Labels): void {
    let characters = 0
    for (const name in labels) characters += name.length + (labels[name]?.length ?? 0)
    this.#left -= Math.max(1, Math.ceil(characters / SERIES_CHARACTERS))
    if (this.#left < 0) throw tooManySeries(this.#metric, SERIES_COUNT_LIMIT - this.#left)
  }
}

/**
 * The `QRY_SERIES_LIMIT` of a question that matches too many series.
 *
 * @param count How many it matches, or some of them.
 */
export function tooManySeries(metric: string, count: number): SondeError {
  return new SondeError(
    'QRY_SERIES_LIMIT',
    `${metric} matches ${count} series or more, where one counts once for each ${SERIES_CHARACTERS} characters of its labels; at most ${SERIES_COUNT_LIMIT} a question: add a matcher`,
  )
}
