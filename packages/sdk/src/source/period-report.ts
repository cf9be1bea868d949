import { SondeError, shown } from '../errors.ts'
import type { periodType } from '../schema/builtin.ts'
import { PERIOD_US_MAX } from '../schema/periods.ts'
import type { RecordOf, RecordType } from '../schema/record-type.ts'
import { wallNs } from './clock.ts'

/** The periods of the records of a type from a device. */
export interface Period {
  /**
   * The device: the text of the first key label of the entity, or of the label `device` if the type declares no entity.
   * Default: every device.
   */
  device?: string
  /** Between two samples of the device. Unit: microseconds. Default: the device takes no samples itself. */
  sampleUs?: number
  /** Between two reads of the samples that the device buffers. Unit: microseconds. Default: it buffers none. */
  drainUs?: number
  /** Between two records. Unit: microseconds, more than 0. */
  reportUs: number
}

/** A minute: every longer window contains a report of the periods. */
const REPEAT_MS = 60_000
const PERIOD_COUNT_LIMIT = 4096

/** The kept periods of one type and device. */
interface KeptPeriod extends Required<Pick<Period, 'device'>> {
  readonly type: string
  readonly sampleUs: number | undefined
  readonly drainUs: number | undefined
  readonly reportUs: number | undefined
}

/** The periods of a source: reported when they are set or change, and again every minute. */
export class PeriodReport {
  readonly #periods = new Map<string, KeptPeriod>()
  readonly #changed = new Set<string>()
  #reportedMs = 0

  /**
   * @throws SondeError `SRC_PERIOD` for an invalid period, and beyond 4096 periods of a source.
   */
  set(type: RecordType | undefined, { device = '', sampleUs, drainUs, reportUs }: Period): void {
    this.#put({ type: type?.name ?? '', device, sampleUs, drainUs, reportUs })
  }

  /**
   * Changes some periods of a device, for each type that has periods of that device, else for all types.
   *
   * @throws SondeError as {@link set} does.
   */
  change(device: string, changed: Omit<Partial<Period>, 'device'>): void {
    const known = [...this.#periods.values()].filter((period) => period.device === device)
    const { sampleUs, drainUs, reportUs } = this.#periods.get(periodKey('', '')) ?? {}
    const before = known.length > 0 ? known : [{ type: '', device, sampleUs, drainUs, reportUs }]
    for (const period of before) this.#put({ ...period, ...changed })
  }

  /** Ends the reports about a device. */
  forget(device: string): void {
    for (const [key, period] of this.#periods) {
      if (period.device !== device) continue
      this.#periods.delete(key)
      this.#changed.delete(key)
    }
  }

  /** The records that are due now. */
  *due(nowMs: number): Generator<RecordOf<typeof periodType>> {
    const isMinute = nowMs < this.#reportedMs || nowMs - this.#reportedMs >= REPEAT_MS
    if (!isMinute && this.#changed.size === 0) return
    if (isMinute) this.#reportedMs = nowMs
    const time = wallNs()
    for (const [key, { type, device, sampleUs, drainUs, reportUs = 0 }] of this.#periods) {
      if (!isMinute && !this.#changed.has(key)) continue
      yield { time, type, device, sample_us: sampleUs, drain_us: drainUs, report_us: reportUs }
    }
    this.#changed.clear()
  }

  #put(given: KeptPeriod): void {
    const { type, device, sampleUs, drainUs, reportUs } = given
    for (const [name, us] of Object.entries({ sampleUs, drainUs, reportUs })) {
      if (us === undefined && name !== 'reportUs') continue
      if (!(typeof us === 'number' && us > 0 && us <= PERIOD_US_MAX)) {
        throw new SondeError('SRC_PERIOD', `${name} is ${shown(us)}; allowed: more than 0, up to ${PERIOD_US_MAX}`)
      }
    }
    const key = periodKey(type, device)
    const known = this.#periods.get(key)
    if (known === undefined && this.#periods.size >= PERIOD_COUNT_LIMIT) {
      throw new SondeError('SRC_PERIOD', `a source has more periods; allowed: ${PERIOD_COUNT_LIMIT} types and devices`)
    }
    const [sample, drain, report] = [sampleUs, drainUs, reportUs].map((us) => us && Math.round(us))
    const period = { type, device, sampleUs: sample, drainUs: drain, reportUs: Math.max(1, report ?? 0) }
    if (known?.sampleUs === sample && known?.drainUs === drain && known?.reportUs === period.reportUs) return
    this.#periods.set(key, period)
    this.#changed.add(key)
  }
}

function periodKey(type: string, device: string): string {
  return `${type}\n${device}`
}
