import { type Batch, messageOf, SondeError } from '@sonde/sdk'
import { within } from '@sonde/sdk/internal'
import type { CutWindow, Tap } from '../sampling/tap.ts'
import type { Duty, LoadedSource, NodeSource, Probe, SourceDefinition } from '../sources/source.ts'
import { DutyPeriods, keyOf } from './duty-periods.ts'
import { DutyRun } from './duty-run.ts'
import type { HostEdge } from './edge-gate.ts'
import type { Lanes } from './lanes.ts'
import type { HostedConfig, Period } from './protocol.ts'
import { startTicker, type Ticker } from './scheduler.ts'
import { SourceOutlet } from './source-outlet.ts'
import type { SourceStatus } from './source-status.ts'

/** Hardware that is not there is looked for again so often. Unit: milliseconds. */
const REPROBE_MS = 10_000

/** What a host gives a source. */
export interface HostedOptions {
  readonly config: HostedConfig
  readonly definition: SourceDefinition
  readonly status: SourceStatus
  readonly accept: (batch: Batch) => void
  readonly onEdge?: (edge: HostEdge) => void
  /** Called when something of the status changed, after each call. */
  readonly onStatus: () => void
  /** Imports the source and opens its library, once a host. */
  readonly load: () => Promise<{ readonly loaded: LoadedSource; readonly library: unknown; readonly lanes: Lanes }>
}

/** The duties of one period. */
interface Group {
  readonly ticker: Ticker
  runs: DutyRun[]
  /** Ticks that the ticker left out, as far as they were counted. */
  overruns: number
}

/** One source in a host: looks until there is something to read, then calls its duties, and says how it fares. */
export class HostedSource {
  readonly status: SourceStatus
  readonly #options: HostedOptions
  #making: Promise<NodeSource> | undefined
  readonly #groups = new Map<number, Group>()
  readonly #runs = new Map<string, DutyRun>()
  readonly #periods: DutyPeriods
  #node: NodeSource | undefined
  #outlet: SourceOutlet | undefined
  #lanes: Lanes | undefined
  #duties: readonly Duty[] = []
  #isProbing = false
  #isPresent = false
  #probedMs = Number.NEGATIVE_INFINITY
  #stopped = false

  constructor(options: HostedOptions) {
    this.#options = options
    this.status = options.status
    this.#periods = new DutyPeriods(options.config.intervalMs, options.config.periods)
  }

  /** Its calls begin. `phase`: see {@link startTicker}. */
  start(phase?: number): void {
    this.#groupOf(this.#options.config.intervalMs * 1000, phase)
  }

  /** One look, without sampling. */
  async probe(): Promise<Probe> {
    const node = await this.#made()
    return node.probe()
  }

  /** Has a command answered. */
  async command(command: unknown): Promise<unknown> {
    const { name } = this.#options.config
    const node = await this.#made()
    if (node.command === undefined) throw new SondeError('AGT_COMMAND', `source ${name} takes no commands`)
    const answer = await node.command(command)
    this.#outlet?.flush()
    return answer
  }

  /** Calls a duty at another period from now on. */
  setPeriod(period: Period): void {
    const { device, duty } = period
    if (!this.#runs.has(keyOf({ device, name: duty }))) {
      const known = [...this.#runs.values()].map((run) => `${run.duty.device} ${run.duty.name}`.trim()).join(', ')
      throw new SondeError('AGT_COMMAND', `no duty ${duty} of ${JSON.stringify(device)}; there are: ${known}`)
    }
    this.#periods.set(period)
    this.#follow()
  }

  /** The ring of a type and device. */
  async tap(type: string, device: string): Promise<Tap> {
    await this.#made()
    const tap = this.#outlet?.tap(type, device)
    if (tap !== undefined) return tap
    const { name } = this.#options.config
    throw new SondeError('AGT_TAP', `source ${name} keeps no samples of ${type} for ${JSON.stringify(device)}`)
  }

  /** A window in batches of so many bytes at most. */
  piecesOf(window: CutWindow, bytesMax: number): Iterable<Batch> {
    return this.#outlet?.piecesOf(window, bytesMax) ?? []
  }

  /** Ends within `limitMs`, also while calls are open; which are still open then, in words. */
  async stop(limitMs: number): Promise<string[]> {
    this.#stopped = true
    for (const { ticker } of this.#groups.values()) void ticker.stop(0)
    const open = () => [...this.#runs.values()].filter((run) => run.isOpen)
    for (const run of this.#runs.values()) this.#lanes?.remove(run)
    await within(limitMs, Promise.all(open().map((run) => run.ended())))
    await within(limitMs, (async () => this.#node?.close())())
    this.#outlet?.flush()
    return open().map(({ duty }) => [this.#options.config.name, duty.device, duty.name].filter(Boolean).join(' '))
  }

  /** Imports it and makes it when it is asked first, and again where that failed. */
  #made(): Promise<NodeSource> {
    if (this.#making === undefined) {
      this.#making = this.#make()
      this.#making.catch(() => {
        this.#making = undefined
      })
    }
    return this.#making
  }

  async #make(): Promise<NodeSource> {
    const { config, definition, status, accept, onEdge, load } = this.#options
    const { loaded, library, lanes } = await load()
    const { stats } = status
    const emit = (batch: Batch) => {
      stats.accepted(batch)
      accept(batch)
    }
    const { name, intervalMs, paths, floodBytes } = config
    const labels = { ...definition.labels, ...loaded.library?.labels?.(library) }
    this.#outlet = new SourceOutlet({ name, intervalMs, labels, paths, library, floodBytes, emit, onEdge, stats })
    this.#lanes = lanes
    const node = loaded.create(config.options, this.#outlet.context)
    if (this.#stopped) await node.close()
    this.#node = node
    return node
  }

  #groupOf(everyUs: number, phase?: number): Group {
    let group = this.#groups.get(everyUs)
    if (group !== undefined) return group
    const failed = (error: unknown) => this.status.stats.failed.add('the host', error, Date.now())
    const ticker = startTicker(everyUs / 1000, () => this.#tick(everyUs), failed, phase)
    group = { ticker, runs: [], overruns: 0 }
    this.#groups.set(everyUs, group)
    return group
  }

  async #tick(everyUs: number): Promise<void> {
    if (this.status.state !== 'reading' && !(await this.#ready())) return
    const group = this.#groups.get(everyUs)
    if (this.#stopped || group === undefined) return
    this.status.stats.overruns += group.ticker.overruns - group.overruns
    group.overruns = group.ticker.overruns
    // Where calls take longer than an interval, what they reported does not wait for the last of them.
    if (group.runs.some(({ isAwaited }) => isAwaited)) this.#outlet?.flush()
    this.#outlet?.begin()
    for (const run of group.runs) this.#call(run)
  }

  #call(run: DutyRun): void {
    if (run.isPending) this.status.stats.overruns++
    if (!run.isStuck) {
      if (run.take()) this.#lanes?.add(run)
      return
    }
    this.#node?.stuck?.(run.duty.device, run.reason)
    this.#flushIfDone()
  }

  /** Whether there is something to read. Absent hardware is looked for again every ten seconds. */
  async #ready(): Promise<boolean> {
    const { state } = this.status
    const restMs = state === 'absent' || state === 'denied' ? REPROBE_MS : this.#options.config.intervalMs * 0.9
    if (this.#isProbing) return false
    if (performance.now() - this.#probedMs < restMs) return this.#isPresent
    this.#isProbing = true
    this.#probedMs = performance.now()
    try {
      this.#isPresent = await this.#look()
    } catch (error) {
      this.#isPresent = false
      this.status.stats.failed.add('the whole sample', error, Date.now())
      this.#settle('failed', messageOf(error))
    } finally {
      this.#isProbing = false
    }
    return this.#isPresent
  }

  async #look(): Promise<boolean> {
    const { callLimitMs } = this.#options.config
    let probe: Probe | undefined
    const looked = this.probe().then((found) => {
      probe = found
    })
    await within(callLimitMs, looked)
    if (probe === undefined) this.#settle('stuck', `A look took more than ${callLimitMs} ms`)
    else if (probe.state === 'failed') throw new SondeError('SRC_READ', probe.reason)
    else if (probe.state !== 'present') this.#settle(probe.state, probe.reason)
    else {
      this.status.found = probe.found
      this.#follow()
      return true
    }
    return false
  }

  /** Follows the list of duties: new ones are called at once, others leave, and periods may be others. */
  #follow(): void {
    if (this.#node === undefined || this.#stopped) return
    this.#duties = this.#node.duties()
    const wanted = new Set(this.#duties.map(keyOf))
    const devices = new Set(this.#duties.map(({ device }) => device))
    for (const [key, run] of this.#runs) if (!wanted.has(key)) this.#drop(key, run, devices)
    this.#outlet?.keep(devices)
    for (const group of this.#groups.values()) group.runs = []
    const fresh = this.#duties.filter((duty) => this.#place(duty))
    for (const [everyUs, { runs, ticker }] of this.#groups) {
      if (runs.length > 0 || this.#duties.length === 0) continue
      void ticker.stop(0)
      this.#groups.delete(everyUs)
    }
    const isReading = this.status.state === 'reading' || this.#isCalling
    for (const duty of isReading ? fresh : []) {
      const run = this.#runs.get(keyOf(duty))
      if (run !== undefined) this.#call(run)
    }
  }

  get #isCalling(): boolean {
    return [...this.#runs.values()].some(({ isDone }) => isDone)
  }

  /** Puts a duty into the group of its period; whether it is new in one whose calls have begun. */
  #place(duty: Duty): boolean {
    const key = keyOf(duty)
    const everyUs = this.#periods.of(duty)
    this.#reportPeriod(duty)
    const isFreshGroup = !this.#groups.has(everyUs)
    let run = this.#runs.get(key)
    const isFresh = run === undefined
    run ??= new DutyRun(this.#runOptions())
    run.duty = duty
    run.lane = this.#laneOf(duty)
    run.limitMs = duty.limitMs ?? this.#options.config.callLimitMs
    this.#runs.set(key, run)
    this.#groupOf(everyUs, 0).runs.push(run)
    return isFresh && !isFreshGroup
  }

  #reportPeriod(duty: Duty): void {
    try {
      if (this.#outlet !== undefined) this.#periods.report(duty, this.#outlet.source)
    } catch (error) {
      // A source with more devices than periods are kept for goes on without them.
      this.status.stats.failed.add('the period', error, Date.now())
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
    if (!devices.has(run.duty.device)) this.#outlet?.source.forgetPeriods(run.duty.device)
    this.#lanes?.remove(run)
    run.leave()
    this.#noteStuck()
  }

  #runOptions() {
    return {
      onDone: (run: DutyRun, durationMs: number) => this.#done(run, durationMs),
      onOverdue: () => this.#flushIfDone(),
      onStuck: (run: DutyRun) => this.#beStuck(run),
    }
  }

  #done({ duty, failure }: DutyRun, durationMs: number): void {
    const { stats, stuck } = this.status
    if (stuck.length > 0) this.#noteStuck()
    if (failure !== undefined) stats.failed.add(duty.device || 'the whole sample', failure, Date.now())
    else stats.sampled({ durationMs, endMs: Date.now(), isFirstDuty: duty === this.#duties[0] })
    if (this.#node !== undefined && this.#node.duties() !== this.#duties) this.#follow()
    this.#flushIfDone()
    // With thousands of devices not each call looks at all of them.
    if (failure === undefined && this.status.state === 'reading') this.#options.onStatus()
    else this.#judge()
  }

  #beStuck(run: DutyRun): void {
    const { device } = run.duty
    this.#noteStuck()
    this.status.stats.failed.add(device || 'the whole sample', new Error(run.reason), Date.now())
    this.#node?.stuck?.(device, run.reason)
    this.#outlet?.flush()
    this.#judge()
  }

  #noteStuck(): void {
    this.status.stuck = [...this.#runs.values()].filter(({ isStuck }) => isStuck).map(({ stuckCall }) => stuckCall)
  }

  /** What was reported leaves when nothing of this tick is under way but what takes too long. */
  #flushIfDone(): void {
    for (const run of this.#runs.values()) if (run.isAwaited) return
    this.#outlet?.flush()
  }

  /** The state of the source by its duties: it reads as long as one of its devices does. */
  #judge(): void {
    const runs = [...this.#runs.values()]
    const whole = runs.find(({ duty, failure, isStuck }) => duty.device === '' && (failure !== undefined || isStuck))
    const ofDevices = runs.filter(({ duty }) => duty.device !== '')
    const known = (ofDevices.length > 0 ? ofDevices : runs).filter(({ isDone, isStuck }) => isDone || isStuck)
    const ill = known.filter(({ failure, isStuck }) => failure !== undefined || isStuck)
    const stuck = known.filter(({ isStuck }) => isStuck)
    if (known.length > 0 && ill.length < known.length && whole === undefined) this.#settle('reading', '')
    else if (whole?.isStuck || (ill.length > 0 && stuck.length === ill.length && whole === undefined))
      this.#settle('stuck', reasonOf(whole === undefined ? stuck : [whole]))
    else if (whole !== undefined || ill.length > 0)
      this.#settle('failed', messageOf((whole ?? ill.find(({ failure }) => failure !== undefined))?.failure))
    this.#options.onStatus()
  }

  #settle(state: SourceStatus['state'], reason: string): void {
    this.status.settle(state, reason)
    this.#options.onStatus()
  }
}

function reasonOf(stuck: readonly DutyRun[]): string {
  const devices = stuck.map(({ duty }) => duty.device).filter(Boolean)
  const [first] = stuck
  if (devices.length === 0 || first === undefined) return first?.reason ?? ''
  return `calls of ${devices.join(', ')} have not come back for ${first.limitMs} ms`
}
