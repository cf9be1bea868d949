import type { Random } from '../../../packages/sdk/test/random.ts'
import { ask, metricLinesOf, sourceOf } from '../../ask.ts'
import { type SondeProcess, until } from '../../sonde-process.ts'

const METRIC = 'rdma_hw_out_of_sequence_total'
const WRAP = 2 ** 32
const STEP_MS = 100
const LIMIT_MS = 15_000
/** A value holds for so many periods of its source where the next one does not come. */
const HOLD_INTERVALS = 2.5

/** What the counter does: counts on, passes the top of 32 bits, or is set back by a driver that was loaded anew. */
type Deed = 'counts' | 'wraps' | 'restarts'

/** A counter of 32 bits of an adapter that is sound, and what has to come of it. */
export class NarrowCounter {
  readonly #device: string
  readonly #write: (value: number) => void
  #raw = 0
  /** The expected value of the metric. */
  #total = 0
  /** The last gain. If a sweep was left out, the rate spreads this gain over the time after the gap. */
  #lastGain = 0

  constructor(device: string, write: (value: number) => void) {
    this.#device = device
    this.#write = write
    write(0)
  }

  /**
   * Counts, wraps and restarts in any order, and compares what is shown with what must be: exactly, also the increase
   * over all of it. Gives how often it restarted.
   */
  async check(sonde: SondeProcess, random: Random): Promise<number> {
    await this.#shown(sonde)
    const overruns = await overrunsOf(sonde)
    const fromMs = await gridPoint()
    const before = this.#lastGain
    let gained = 0
    let restarts = 0
    for (let steps = random.integer(2, 5); steps > 0; steps--) {
      const deed = random.pick<Deed>(['counts', 'wraps', 'restarts'])
      if (deed !== 'counts') {
        gained += this.#count(deed === 'wraps' ? WRAP - random.integer(1, 1000) : random.integer(2.2e9, 3.2e9))
        await this.#shown(sonde)
      }
      gained += this.#do(deed, random)
      await this.#shown(sonde)
      if (deed === 'restarts') restarts++
    }
    const toMs = await gridPoint()
    await this.#compare(sonde, { fromMs, toMs }, { gained, before, restarts, overruns })
    return restarts
  }

  /** Sets the counter to a higher value. Gives what it gained. */
  #count(raw: number): number {
    const gain = raw - this.#raw
    this.#set(raw, this.#total + gain)
    this.#lastGain = gain
    return gain
  }

  #do(deed: Deed, random: Random): number {
    const value = random.integer(0, 1000)
    if (deed === 'counts') return this.#count(this.#raw + value)
    if (deed === 'restarts') {
      this.#set(value, value)
      return 0
    }
    const gain = WRAP - this.#raw + value
    this.#set(value, this.#total + gain)
    this.#lastGain = gain
    return gain
  }

  #set(raw: number, total: number): void {
    this.#raw = raw
    this.#total = total
    this.#write(raw)
  }

  async #shown(sonde: SondeProcess): Promise<void> {
    const line = `${METRIC}{rdma_device="${this.#device}",port="1"} ${this.#total}`
    await until(line, LIMIT_MS, async () => (await metricLinesOf(sonde)).has(line))
  }

  /**
   * Without a gap, the increase is exact. If the machine left out a sweep, the increase across the gap is unknown, and
   * a step without a sample repeats the step before while values hold: the increase has an upper bound then. A busy
   * machine answers late, so this asks until the numbers fit.
   */
  async #compare(
    sonde: SondeProcess,
    window: { readonly fromMs: number; readonly toMs: number },
    expected: {
      readonly gained: number
      /** What may have been gained before the window, and be shown in it. */
      readonly before: number
      readonly restarts: number
      /** Sweeps that had been left out before the window. */
      readonly overruns: number
    },
  ): Promise<void> {
    const { gained, before, restarts, overruns } = expected
    let told = ''
    await until('the increase and the restarts', LIMIT_MS, async () => {
      const shown = await this.#increase(sonde, window)
      const left = (await overrunsOf(sonde)) - overruns
      told = `an increase of ${shown.sum} with ${shown.resets} restarts and ${left} sweeps left out`
      const isRight = left === 0 ? shown.sum === gained : shown.sum <= (gained + before) * (1 + HOLD_INTERVALS)
      return isRight && shown.resets === restarts
    }).catch((cause: unknown) => {
      throw new Error(`${told}, where ${gained} were counted, ${before} before, with ${restarts} restarts`, { cause })
    })
  }

  async #increase(sonde: SondeProcess, window: { readonly fromMs: number; readonly toMs: number }) {
    const matchers = [{ label: 'rdma_device', op: '=', value: this.#device }]
    const queries = [{ metric: METRIC, function: 'increase', matchers }]
    const { results } = await ask<{ results: { series: { values: (number | null)[]; resetsMs: number[] }[] }[] }>(
      sonde,
      '/api/v1/query',
      { ...window, stepMs: STEP_MS, queries },
    )
    const [series] = results[0]?.series ?? []
    const sum = series?.values.reduce<number>((total, value) => total + (value ?? 0), 0) ?? 0
    return { sum, resets: series?.resetsMs.filter((atMs) => atMs > window.fromMs).length ?? 0 }
  }
}

/** Sweeps that the source left out, because the machine was busy. */
async function overrunsOf(sonde: SondeProcess): Promise<number> {
  return (await sourceOf(sonde, 'rdma')).overruns
}

/** Waits for the next point of the grid, and a little longer. Unit: milliseconds since the Unix epoch. */
async function gridPoint(): Promise<number> {
  const atMs = (Math.floor(Date.now() / STEP_MS) + 1) * STEP_MS
  await until('the next step', LIMIT_MS, () => Date.now() > atMs + STEP_MS)
  return atMs
}
