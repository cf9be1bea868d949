import type { Scraper, ScraperState } from '@sonde/sdk/api'
import { messageOf } from '@sonde/sdk/internal'
import type { RunningSource } from './running-source.ts'

/** The reason of a scraper that is switched off. */
export const SWITCHED_OFF = 'it is switched off by the parameter gpu_scraper_enable'

type Switched = Pick<RunningSource, 'name' | 'state' | 'reason' | 'found' | 'definition' | 'pause'>

/** Switches the scrapers of GPUs off and on while the agent runs. Their states are those that they report. */
export class ScraperSwitch {
  readonly #sources: () => readonly Switched[]
  readonly #isOn: () => boolean
  /** The last reason that each source received. */
  readonly #sent = new Map<string, string>()
  readonly #faults = new Map<string, string>()
  readonly #answered = new Set<string>()

  /** `isOn`: whether scrapers shall run; those that start now follow it already. Default: yes. */
  constructor(sources: () => readonly Switched[], isOn: () => boolean = () => true) {
    this.#sources = sources
    this.#isOn = isOn
    for (const { name } of this.#scrapers()) this.#sent.set(name, this.#reason)
  }

  /** Tells the scrapers where they stand. Costs nothing while nothing changes. */
  tell(): void {
    const reason = this.#reason
    for (const source of this.#scrapers()) {
      if (source.state === 'reading') this.#answered.add(source.name)
      if (this.#sent.get(source.name) !== reason) void this.#send(source, reason)
    }
  }

  /** Has all scrapers begin anew. */
  async reset(): Promise<void> {
    const begin = async (source: Switched) => {
      await this.#send(source, SWITCHED_OFF)
      await this.#send(source, this.#reason)
    }
    await Promise.all(this.#scrapers().map(begin))
  }

  /** The scrapers that are configured. */
  list(): readonly Scraper[] {
    return this.#scrapers().map((source) => {
      const { name, state: ofSource, found } = source
      const state = this.#stateOf(source)
      const detail = this.#faults.get(name) ?? (ofSource === 'reading' ? found : source.reason)
      return { name, state, detail, hasAnswered: this.#answered.has(name) || ofSource === 'reading' }
    })
  }

  #stateOf({ name, state, reason }: Switched): ScraperState {
    if (this.#faults.has(name)) return 'error'
    const isOff = isSwitchedOff({ state, reason })
    if (!this.#isOn()) return isOff ? 'disabled' : 'disabling'
    if (isOff || state === 'starting') return 'enabling'
    return state === 'reading' ? 'enabled' : 'error'
  }

  get #reason(): string {
    return this.#isOn() ? '' : SWITCHED_OFF
  }

  #scrapers(): readonly Switched[] {
    return this.#sources().filter(({ definition }) => definition.isSwitched === true)
  }

  async #send(source: Switched, reason: string): Promise<void> {
    const { name } = source
    this.#sent.set(name, reason)
    try {
      await source.pause(reason)
      this.#faults.delete(name)
    } catch (error) {
      this.#faults.set(name, messageOf(error))
      // The next look sends it again.
      this.#sent.delete(name)
    }
  }
}

/** Whether a source reports that the switch is off. */
export function isSwitchedOff({ state, reason }: Pick<RunningSource, 'state' | 'reason'>): boolean {
  return state === 'absent' && reason === SWITCHED_OFF
}
