import type { ExpositionParser } from '@sonde/sdk/internal'
import { SAMPLES_A_STEP } from '../scraping/in-turns.ts'
import { ScrapeRefusal } from '../scraping/refusal.ts'
import { dcgmField } from './fields.ts'

/** Values count as frozen after this many periods of the exporter and as many scrapes without a change. */
const PERIODS = 5
/** DCGM's number of the energy counter, in millijoules. A GPU always draws power, so the counter always grows. */
const ENERGY_ID = 156
/** Smallest blank value of DCGM; a blank means that the counter does not exist. */
const BLANK = 2 ** 62

/**
 * Detects an exporter that answers with values that no longer change, for example because DCGM hangs. Idle GPUs may
 * keep most values for hours. Only energy counters and the timestamps of lines must change, so only these count.
 */
export class FrozenWatch {
  readonly #stillMaxMs: number
  readonly #now: () => number
  /** Energy counters and timestamps of the last scrape. */
  #moving: readonly number[] = []
  #scrapes = 0
  #sinceMs = 0

  /**
   * @param collectMs How often the exporter reads the GPUs. Unit: milliseconds.
   * @param intervalMs Time between two scrapes. Unit: milliseconds.
   * @param now Milliseconds of a clock that only goes forward.
   */
  constructor(collectMs: number, intervalMs: number, now: () => number = () => performance.now()) {
    this.#stillMaxMs = PERIODS * Math.max(collectMs, intervalMs)
    this.#now = now
  }

  /**
   * Checks a body, in steps.
   *
   * @throws ScrapeRefusal if the values have not changed for five periods and as many scrapes.
   */
  *look(address: string, parser: ExpositionParser): Generator<undefined, void> {
    const nowMs = this.#now()
    const moving = yield* movingIn(parser)
    const isSame = moving.length === this.#moving.length && moving.every((value, i) => value === this.#moving[i])
    this.#moving = moving
    if (!isSame || moving.length === 0) {
      this.#sinceMs = nowMs
      this.#scrapes = 0
      return
    }
    this.#scrapes++
    const stillMs = nowMs - this.#sinceMs
    if (this.#scrapes < PERIODS || stillMs < this.#stillMaxMs) return
    const words = `gives the same energy counters or times for ${Math.round(stillMs / 1000)} s, in ${this.#scrapes + 1} scrapes`
    const fix = 'it is frozen, and its values are old; restart it, and the nv-hostengine that it asks'
    throw new ScrapeRefusal('frozen', address, `${words}: ${fix}`)
  }
}

function* movingIn(parser: ExpositionParser): Generator<undefined, number[]> {
  const moving: number[] = []
  for (let i = 0; i < parser.count; i++) {
    const id = dcgmField(parser.seriesAt(i).name)?.id
    const timeMs = parser.timesMs[i] as number
    const value = parser.values[i] as number
    if (id === ENERGY_ID && value > 0 && value < BLANK) moving.push(value)
    if (id !== undefined && !Number.isNaN(timeMs)) moving.push(timeMs)
    if (i % SAMPLES_A_STEP === 0) yield
  }
  return moving
}
