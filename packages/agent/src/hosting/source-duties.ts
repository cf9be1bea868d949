import { SondeError } from '@sonde/sdk'
import { within } from '@sonde/sdk/internal'
import type { Duty, NodeSource, SourceDefinition } from '../sources/source.ts'
import type { CallLanes } from './call-lanes.ts'
import { DutyPeriods, dutyKey } from './duty-periods.ts'
import { DutyRun } from './duty-run.ts'
import type { DutyPeriod, HostedConfig } from './protocol.ts'
import { startTicker, type Ticker } from './scheduler.ts'
import type { SourceOutlet } from './source-outlet.ts'
import type { SourceStatus } from './source-status.ts'
import { stateOfDuties } from './state-of-duties.ts'

/** A source with its outlet and its lanes. */
export interface MadeSource {
  readonly node: NodeSource
  readonly outlet: SourceOutlet
  readonly lanes: CallLanes
}

/** Options of {@link SourceDuties}. */
export interface DutiesOptions {
  readonly config: HostedConfig
  readonly definition: Pick<SourceDefinition, 'host'>
  readonly status: SourceStatus
  /** Called when something of the status changed: after the calls of an interval, and after each that failed. */
  readonly onStatus: () => void
  /** Whether calls may be made; asked at each tick while the source does not read. */
  readonly ready: () => Promise<boolean>
}

/** The duties of one period. */
interface Group {
  readonly ticker: Ticker
  runs: DutyRun[]
  /** Ticks that the ticker left out, as far as they were counted. */
  overruns: number
}

/** Calls the duties of one source, each at its period, and judges by them how the source fares. */
export class SourceDuties {
  readonly #options: DutiesOptions
  readonly #groups = new Map<number, Group>()
  readonly #runs = new Map<string, DutyRun>()
  readonly #periods: DutyPeriods
  #made: MadeSource | undefined
  #duties: readonly Duty[] = []
  #stopped = false

  constructor(options: DutiesOptions) {
    const { intervalMs, periods } = options.config
    this.#options = options
    this.#periods = new DutyPeriods(intervalMs, periods)
  }

  /** Ticks begin. `phase`: see {@link startTicker}. */
  start(phase?: number): void {
    this.#groupOf(this.#options.config.intervalMs * 1000, phase)
  }

  /** Sets the source of these duties. */
  take(made: MadeSource): void {
    this.#made = made
  }

  /** Calls a duty at another period from now on. */
  setPeriod(period: DutyPeriod): void {
    const { device, duty } = period
    if (!this.#runs.has(dutyKey({ device, name: duty }))) {
      const known = [...this.#runs.values()].map((run) => `${run.duty.device} ${run.duty.name}`.trim()).join(', ')
      throw new SondeError('AGT_COMMAND', `no duty ${duty} of ${JSON.stringify(device)}; there are: ${known}`)
    }
    this.#periods.set(period)
    this.follow()
  }

  /** Makes no more calls; resolves when the open ones came back, or after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#stopped = true
    for (const { ticker } of this.#groups.values()) void ticker.stop(0)
    for (const run of this.#runs.values()) this.#made?.lanes.remove(run)
    await within(limitMs, Promise.all([...this.#runs.values()].map((run) => run.ended())))
  }

  /** Does not wait for the next tick. */
  callNow(): void {
    for (const { ticker } of this.#groups.values()) ticker.now()
  }

  /** The calls that are open, in words. */
  open(): string[] {
    const open = [...this.#runs.values()].filter(({ isOpen }) => isOpen)
    return open.map(({ duty }) => [this.#options.config.name, duty.device, duty.name].filter(Boolean).join(' '))
  }

  /** Follows the list of duties: new ones are called at once, others leave, and periods may be others. */
  follow(): void {
    if (this.#made === undefined || this.#stopped) return
    this.#duties = this.#made.node.duties()
    const wanted = new Set(this.#duties.map(dutyKey))
    const devices = new Set(this.#duties.map(({ device }) => device))
    for (const [key, run] of this.#runs) if (!wanted.has(key)) this.#drop(key, run, devices)
    this.#made.outlet.keep(devices)
    for (const group of this.#groups.values()) group.runs = []
    const ticking = new Set(this.#groups.keys())
    // Those of a period that is new are called by its first tick.
    const fresh = this.#duties.filter((duty) => this.#place(duty) && ticking.has(this.#periods.of(duty)))
    for (const [everyUs, { runs, ticker }] of this.#groups) {
      if (runs.length > 0 || this.#duties.length === 0) continue
      void ticker.stop(0)
      this.#groups.delete(everyUs)
    }
    const isCalling = this.#options.status.state === 'reading' || [...this.#runs.values()].some(({ isDone }) => isDone)
    for (const duty of isCalling ? fresh : []) {
      const run = this.#runs.get(dutyKey(duty))
      if (run !== undefined) this.#call(run)
    }
  }

  #groupOf(everyUs: number, phase?: number): Group {
    let group = this.#groups.get(everyUs)
    if (group !== undefined) return group
    const failed = (error: unknown) => this.#options.status.stats.failed.add('the host', error, Date.now())
    const ticker = startTicker(everyUs / 1000, () => this.#tick(everyUs), failed, phase)
    group = { ticker, runs: [], overruns: 0 }
    this.#groups.set(everyUs, group)
    return group
  }

  async #tick(everyUs: number): Promise<void> {
    const { status, ready } = this.#options
    if (status.state !== 'reading' && !(await ready())) {
      // Its devices may be gone, which rules on absence detect.
      if (!this.#stopped) this.#made?.outlet.flush()
      return
    }
    const group = this.#groups.get(everyUs)
    if (this.#stopped || group === undefined) return
    status.stats.overruns += group.ticker.overruns - group.overruns
    group.overruns = group.ticker.overruns
    // If calls take longer than an interval, their records do not wait for the last call.
    if (group.runs.some(({ isAwaited }) => isAwaited)) {
      this.#made?.outlet.flush()
      this.#options.onStatus()
    }
    this.#made?.outlet.begin()
    for (const run of group.runs) this.#call(run)
  }

  #call(run: DutyRun): void {
    if (run.isPending) this.#options.status.stats.overruns++
    // A call that waits for a device that hangs in a call of another source has nothing to say of it either.
    const isHeld = run.isPending && this.#made?.lanes.hangs(run.lane) === true
    if (!run.isStuck && !isHeld) {
      if (run.take()) this.#made?.lanes.add(run)
      return
    }
    this.#made?.node.stuck?.(run.duty.device, run.reason)
    this.#flushIfDone()
  }

  /** Puts a duty into the group of its period; whether it is new. */
  #place(duty: Duty): boolean {
    const key = dutyKey(duty)
    const everyUs = this.#periods.of(duty)
    this.#reportPeriod(duty)
    let run = this.#runs.get(key)
    const isFresh = run === undefined
    run ??= new DutyRun({
      onDone: (done, durationMs) => this.#done(done, durationMs),
      onOverdue: () => void this.#flushIfDone(),
      // This is no statement about the device: its last records stay.
      onStarved: () => this.#judge(),
      onStuck: (stuck) => this.#beStuck(stuck),
    })
    run.duty = duty
    run.lane = this.#laneOf(duty)
    run.limitMs = duty.limitMs ?? this.#options.config.callLimitMs
    this.#runs.set(key, run)
    this.#groupOf(everyUs, 0).runs.push(run)
    return isFresh
  }

  #reportPeriod(duty: Duty): void {
    try {
      if (this.#made !== undefined) this.#periods.report(duty, this.#made.outlet.source)
    } catch (error) {
      // A source with more devices than periods are kept for goes on without them.
      this.#options.status.stats.failed.add('the period', error, Date.now())
    }
  }

  /** Without a library nothing is shared: lanes are those of the source. */
  #laneOf({ lane, device }: Duty): string {
    const { config, definition } = this.#options
    const isOfLibrary = definition.host !== 'agent' && definition.host !== 'worker'
    return isOfLibrary ? (lane ?? device) || config.name : `${config.name}\n${lane ?? device}`
  }

  #drop(key: string, run: DutyRun, devices: ReadonlySet<string>): void {
    this.#runs.delete(key)
    if (!devices.has(run.duty.device)) this.#made?.outlet.source.forgetPeriods(run.duty.device)
    this.#made?.lanes.remove(run)
    run.leave()
    this.#noteStuck()
  }

  #done({ duty, failure }: DutyRun, durationMs: number): void {
    const { status, onStatus } = this.#options
    const { stats, stuck } = status
    if (stuck.length > 0) this.#noteStuck()
    this.#noteTargets()
    if (failure !== undefined) stats.failed.add(duty.device || 'the whole sample', failure, Date.now())
    else stats.sampled({ durationMs, endMs: Date.now(), isFirstDuty: duty === this.#duties[0] })
    if (this.#made !== undefined && this.#made.node.duties() !== this.#duties) this.follow()
    const isFlushed = this.#flushIfDone()
    if (isFlushed) this.#noteFound()
    // With thousands of devices not each call looks at all of them.
    if (failure !== undefined || status.state !== 'reading') this.#judge()
    // Sent together with the records, so that the agent wakes once.
    else if (isFlushed) onStatus()
  }

  #beStuck(run: DutyRun): void {
    const { device } = run.duty
    this.#noteStuck()
    this.#options.status.stats.failed.add(device || 'the whole sample', new Error(run.reason), Date.now())
    this.#made?.node.stuck?.(device, run.reason)
    this.#noteTargets()
    this.#made?.outlet.flush()
    this.#judge()
  }

  #noteTargets(): void {
    const { status } = this.#options
    const targets = this.#made?.node.targets?.() ?? status.targets
    if (targets === status.targets) return
    status.targets = targets
    this.#noteFound()
  }

  /** What the source reads changes as devices and exporters come and go. */
  #noteFound(): void {
    const found = this.#made?.node.found?.()
    if (found !== undefined) this.#options.status.found = found
  }

  #noteStuck(): void {
    const stuck = [...this.#runs.values()].filter(({ isStuck }) => isStuck)
    this.#options.status.stuck = stuck.map(({ stuckCall }) => stuckCall)
  }

  /** Sends the records of this tick when only calls over their limit are left; returns whether it did. */
  #flushIfDone(): boolean {
    for (const run of this.#runs.values()) if (run.isAwaited) return false
    this.#made?.outlet.flush()
    return true
  }

  #judge(): void {
    const { status, onStatus } = this.#options
    const judged = stateOfDuties([...this.#runs.values()])
    if (judged !== undefined) status.settle(judged.state, judged.reason)
    onStatus()
  }
}
