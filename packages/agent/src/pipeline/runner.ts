import { messageOf, SondeError } from '@sonde/sdk'
import type { NodeSource, SourceDefinition } from '../sources/source.ts'
import { startTicker, type Ticker } from './scheduler.ts'
import type { SourceState, SourceStats } from './source-stats.ts'

/** Options of a {@link SourceRunner}. */
export interface RunnerOptions {
  readonly name: string
  readonly definition: SourceDefinition
  readonly intervalMs: number
  readonly source: NodeSource
  readonly stats: SourceStats
  /** Called after every sample, failed ones too, to flush what was reported. */
  readonly afterSample: () => void
  /** Process id of the child in which it runs, where it has one. */
  readonly childPid?: () => number | undefined
  /** Called when the state changes, with the one before. */
  readonly onState?: (state: SourceState, reason: string, before: SourceState) => void
}

const REPROBE_MS = 10_000
/** A call did not come back within its limit, and a source has nothing but such calls. */
const STUCK = new Set(['AGT_CALL_LIMIT', 'SRC_STUCK'])

/**
 * Keeps one source running: probes it until there is something to read, samples it once an interval, and says how it
 * fares. Where it runs (main loop, worker, child process) is the business of the `NodeSource` it is given.
 */
export class SourceRunner {
  readonly name: string
  readonly definition: SourceDefinition
  readonly intervalMs: number
  readonly stats: SourceStats
  /** What it runs: the source itself, or what stands for one in a child process. */
  readonly source: NodeSource
  state: SourceState = 'starting'
  reason = ''
  /** What the probe found, in words. */
  found = ''
  readonly #options: RunnerOptions
  #ticker: Ticker | undefined
  #opened = false
  #probedMs = Number.NEGATIVE_INFINITY

  constructor(options: RunnerOptions) {
    this.#options = options
    this.name = options.name
    this.definition = options.definition
    this.intervalMs = options.intervalMs
    this.stats = options.stats
    this.source = options.source
  }

  /** Process id of the child in which it runs; undefined where it has none. */
  get childPid(): number | undefined {
    return this.#options.childPid?.()
  }

  /** Samples skipped because the one before was not done. */
  get overruns(): number {
    return this.#ticker?.overruns ?? 0
  }

  /** Whether it was sampled once, or settled in a state that says why not. */
  get settled(): boolean {
    return this.state !== 'starting'
  }

  start(phase?: number): void {
    this.#ticker = startTicker(
      this.intervalMs,
      () => this.#tick(),
      (error) => this.stats.failed.add('the runner', error, Date.now()),
      phase,
    )
  }

  /** Ends within `limitMs`, also while a call hangs. */
  async stop(limitMs: number): Promise<void> {
    await this.#ticker?.stop(limitMs)
    await this.#options.source.close()
  }

  async #tick(): Promise<void> {
    try {
      if (!(await this.#ready())) return
      const startMs = performance.now()
      try {
        await this.#options.source.sample()
      } finally {
        // What was reported before it failed holds: the last devices that left, say.
        this.#options.afterSample()
      }
      this.stats.sampled(performance.now() - startMs, Date.now())
      this.#settle('reading', '')
    } catch (error) {
      this.stats.failed.add('the whole sample', error, Date.now())
      const stuck = error instanceof SondeError && STUCK.has(error.code)
      this.#settle(stuck ? 'stuck' : 'failed', messageOf(error))
    }
  }

  /** Whether there is something to read. Absent hardware is looked for again every ten seconds. */
  async #ready(): Promise<boolean> {
    const { source } = this.#options
    if (!this.#opened) {
      await source.open()
      this.#opened = true
    }
    if (this.state === 'reading') return true
    const nowMs = performance.now()
    const waits = this.state === 'absent' || this.state === 'denied'
    if (waits && nowMs - this.#probedMs < REPROBE_MS) return false
    this.#probedMs = nowMs
    const probe = await source.probe()
    if (probe.state === 'present') {
      this.found = probe.found
      return true
    }
    if (probe.state === 'failed') throw new SondeError('SRC_READ', probe.reason)
    this.#settle(probe.state, probe.reason)
    return false
  }

  #settle(state: SourceState, reason: string): void {
    if (this.state === state && this.reason === reason) return
    const before = this.state
    this.state = state
    this.reason = reason
    this.#options.onState?.(state, reason, before)
  }
}
