import { SondeError, shown } from '../errors.ts'
import type { periodType } from '../schema/builtin.ts'
import type { RecordOf, RecordType } from '../schema/record-type.ts'
import { wallNs } from './clock.ts'

/** How often the records of a type come of a device. */
export interface Period {
  /** Device that they are about, as its label says. Default: every device. */
  device?: string
  /** Between two samples of the device. Unit: microseconds. Default: it takes none by itself. */
  sampleUs?: number
  /** Between two readings of the samples that the device keeps. Unit: microseconds. Default: it keeps none. */
  drainUs?: number
  /** Between two records. Unit: microseconds, more than 0. */
  reportUs: number
}

/** A minute: whoever looks at any stretch of time finds them there. */
const REPEAT_MS = 60_000
const PERIOD_COUNT_LIMIT = 4096
/** A day. */
const PERIOD_US_MAX = 86_400_000_000

/** The periods of a source: told when they begin or change, and again every minute. */
export class PeriodReport {
  readonly #periods = new Map<string, Omit<RecordOf<typeof periodType>, 'time'>>()
  readonly #changed = new Set<string>()
  #toldMs = 0

  /**
   * @throws SondeError `SRC_PERIOD` for a period that is none, and beyond 4096 of a source.
   */
  set(type: RecordType | undefined, { device = '', sampleUs, drainUs, reportUs }: Period): void {
    for (const [name, given] of Object.entries({ sampleUs, drainUs, reportUs })) {
      if (given === undefined && name !== 'reportUs') continue
      if (!(typeof given === 'number' && given > 0 && given <= PERIOD_US_MAX)) {
        throw new SondeError('SRC_PERIOD', `${name} is ${shown(given)}; allowed: more than 0, up to ${PERIOD_US_MAX}`)
      }
    }
    const name = type?.name ?? ''
    const key = `${name}\n${device}`
    const known = this.#periods.get(key)
    if (known === undefined && this.#periods.size >= PERIOD_COUNT_LIMIT) {
      throw new SondeError('SRC_PERIOD', `a source has more periods; allowed: ${PERIOD_COUNT_LIMIT} types and devices`)
    }
    const [sample, drain, report] = [sampleUs, drainUs, reportUs].map((us) => us && Math.round(us))
    const period = { type: name, device, sample_us: sample, drain_us: drain, report_us: Math.max(1, report ?? 0) }
    if (known?.sample_us === sample && known?.drain_us === drain && known?.report_us === period.report_us) return
    this.#periods.set(key, period)
    this.#changed.add(key)
  }

  /** What is to be told now. */
  *due(nowMs: number): Generator<RecordOf<typeof periodType>> {
    const isMinute = nowMs < this.#toldMs || nowMs - this.#toldMs >= REPEAT_MS
    if (!isMinute && this.#changed.size === 0) return
    if (isMinute) this.#toldMs = nowMs
    const time = wallNs()
    for (const [key, period] of this.#periods) if (isMinute || this.#changed.has(key)) yield { time, ...period }
    this.#changed.clear()
  }
}
