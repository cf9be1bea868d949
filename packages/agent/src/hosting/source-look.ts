import { SondeError } from '@sonde/sdk'
import type { SourceState } from '@sonde/sdk/api'
import { messageOf } from '@sonde/sdk/internal'
import { FairLimit } from '../processor/fair-limit.ts'
import { ownReadings } from '../processor/readings.ts'
import type { Probe } from '../sources/source.ts'
import type { HostedConfig } from './protocol.ts'
import type { SourceStatus } from './source-status.ts'

/** Period of probes for absent hardware. Unit: milliseconds. */
const REPROBE_MS = 10_000

/** Options of a {@link SourceLook}. */
export interface LookOptions {
  readonly config: Pick<HostedConfig, 'intervalMs' | 'callLimitMs' | 'paused'>
  readonly status: SourceStatus
  readonly probe: () => Promise<Probe>
  /** Called at each look that found something to read. */
  readonly onFound: () => void
  /** Called when a look settled the state. */
  readonly onStatus: () => void
}

/** Looks whether a source has something to read, for as long as it reads nothing. */
export class SourceLook {
  readonly #options: LookOptions
  #isLooking = false
  #isPresent = false
  #lookedMs = Number.NEGATIVE_INFINITY
  /** Why the source is switched off; empty if it is not. */
  #paused: string

  constructor(options: LookOptions) {
    this.#options = options
    this.#paused = options.config.paused ?? ''
  }

  /** Makes no look while the source is switched off with a reason; with an empty reason the next look is due. */
  pause(reason: string): void {
    this.#paused = reason
    this.#isPresent = false
    this.#lookedMs = Number.NEGATIVE_INFINITY
    if (reason !== '') this.#settle('absent', reason)
  }

  /** Whether there is something to read. Absent hardware is looked for again every ten seconds. */
  async ready(): Promise<boolean> {
    const { config, status } = this.#options
    if (this.#paused !== '') {
      this.#settle('absent', this.#paused)
      return false
    }
    const restMs = status.state === 'absent' || status.state === 'denied' ? REPROBE_MS : config.intervalMs * 0.9
    if (this.#isLooking) return false
    if (performance.now() - this.#lookedMs < restMs) return this.#isPresent
    this.#isLooking = true
    this.#lookedMs = performance.now()
    try {
      this.#isPresent = await this.#look()
    } catch (error) {
      this.#isPresent = false
      status.stats.failed.add('the whole sample', error, Date.now())
      this.#settle('failed', messageOf(error))
    } finally {
      this.#isLooking = false
    }
    return this.#isPresent
  }

  async #look(): Promise<boolean> {
    const { config, status, onFound } = this.#options
    const { callLimitMs } = config
    let probe: Probe | undefined
    const looked = this.#options.probe().then((found) => {
      probe = found
    })
    const { promise: over, resolve: onOver } = Promise.withResolvers<void>()
    const onShort = (words: string) => this.#settle('starved', words)
    const limit = new FairLimit({ limitMs: callLimitMs, read: ownReadings, onOver, onShort }).keepAlive()
    await Promise.race([looked, over]).finally(() => limit.stop())
    // It was switched off during the look.
    if (this.#paused !== '') return false
    if (probe === undefined) this.#settle('stuck', `A look took more than ${callLimitMs} ms`)
    else if (probe.state === 'failed') throw new SondeError('SRC_READ', probe.reason)
    else if (probe.state !== 'present') this.#settle(probe.state, probe.reason)
    else {
      status.found = probe.found
      onFound()
      return true
    }
    return false
  }

  #settle(state: SourceState, reason: string): void {
    this.#options.status.settle(state, reason)
    this.#options.onStatus()
  }
}
