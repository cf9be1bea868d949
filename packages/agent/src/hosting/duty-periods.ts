import { SondeError, type Source } from '@sonde/sdk'
import type { Duty } from '../sources/source.ts'
import type { DutyPeriod } from './protocol.ts'

/** Periods of duties; a timer rings no more often. Unit: microseconds. */
const EVERY_US_MIN = 1000
const EVERY_US_MAX = 3_600_000_000
/** Periods that commands set, of one source. */
const PERIOD_COUNT_MAX = 4096

/** The periods of the duties of one source, and their records of `sonde_period`. */
export class DutyPeriods {
  /** Set by commands, by device and duty. They hold for a device that leaves and comes back. */
  readonly #set = new Map<string, number>()
  readonly #intervalUs: number

  /** @param set Periods that commands set in an earlier host. */
  constructor(intervalMs: number, set: readonly DutyPeriod[] = []) {
    this.#intervalUs = intervalMs * 1000
    for (const { device, duty, everyUs } of set) this.#set.set(dutyKey({ device, name: duty }), everyUs)
  }

  /** The period of a duty. Unit: microseconds. */
  of(duty: Pick<Duty, 'device' | 'name' | 'everyUs'>): number {
    return this.#set.get(dutyKey(duty)) ?? duty.everyUs
  }

  /**
   * Sets the period of a duty.
   *
   * @throws SondeError `AGT_COMMAND` for a period out of range, and beyond 4096 of a source.
   */
  set({ device, duty, everyUs }: DutyPeriod): void {
    const key = dutyKey({ device, name: duty })
    if (!(everyUs >= EVERY_US_MIN && everyUs <= EVERY_US_MAX)) {
      const allowed = `${EVERY_US_MIN} to ${EVERY_US_MAX} microseconds`
      throw new SondeError('AGT_COMMAND', `a period of ${everyUs}; allowed: ${allowed}`)
    }
    if (!this.#set.has(key) && this.#set.size >= PERIOD_COUNT_MAX)
      throw new SondeError('AGT_COMMAND', `a source has more periods; allowed: ${PERIOD_COUNT_MAX} devices and duties`)
    this.#set.set(key, everyUs)
  }

  /** Reports the period of a duty, unless it is the interval of the source, which is reported for all devices. */
  report(duty: Duty, source: Source): void {
    const { device, paces } = duty
    const everyUs = this.of(duty)
    if (paces === undefined) return
    if (paces === 'report' && everyUs === this.#intervalUs && !this.#set.has(dutyKey(duty))) return
    source.changePeriod(device, { [`${paces}Us`]: everyUs })
  }
}

/** The key of a duty of a source. */
export function dutyKey({ device, name }: Pick<Duty, 'device' | 'name'>): string {
  return `${device}\n${name}`
}
