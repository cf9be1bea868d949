import { type Batch, SondeError } from '@sonde/sdk'
import { within } from '@sonde/sdk/internal'
import { decodeWatch, type Watch } from '../rules/watch.ts'
import type { CutWindow, Tap } from '../sampling/tap.ts'
import type { LoadedSource, Probe, SourceDefinition } from '../sources/source.ts'
import type { CallLanes } from './call-lanes.ts'
import type { HostEdge } from './edge-gate.ts'
import type { DutyPeriod, HostedConfig, TapInfo } from './protocol.ts'
import { type MadeSource, SourceDuties } from './source-duties.ts'
import { SourceLook } from './source-look.ts'
import { SourceOutlet } from './source-outlet.ts'
import type { SourceStatus } from './source-status.ts'

/** The context that a host gives to a source. */
export interface HostedOptions {
  readonly config: HostedConfig
  readonly definition: SourceDefinition
  readonly status: SourceStatus
  readonly accept: (batch: Batch) => void
  readonly onEdge?: (edge: HostEdge) => void
  /** Called when something of the status changed, after each call. */
  readonly onStatus: () => void
  /** Imports the source and opens its library, once a host. */
  readonly load: () => Promise<{ readonly loaded: LoadedSource; readonly library: unknown; readonly lanes: CallLanes }>
}

/** One source in a host: looks until there is something to read, then calls its duties, and says how it fares. */
export class HostedSource {
  readonly status: SourceStatus
  readonly #options: HostedOptions
  readonly #duties: SourceDuties
  readonly #look: SourceLook
  #making: Promise<MadeSource> | undefined
  #made: MadeSource | undefined
  #stopped = false

  constructor(options: HostedOptions) {
    const { status } = options
    this.#options = options
    this.status = status
    this.#look = new SourceLook({ ...options, probe: () => this.probe(), onFound: () => this.#duties.follow() })
    this.#duties = new SourceDuties({ ...options, ready: () => this.#look.ready() })
  }

  /** Its calls begin. `phase`: see `startTicker`. */
  start(phase?: number): void {
    this.#duties.start(phase)
  }

  /** One look, without sampling. */
  async probe(): Promise<Probe> {
    const { node } = await this.#whenMade()
    return node.probe()
  }

  /** Has a command answered. */
  async command(command: unknown): Promise<unknown> {
    const { node, outlet } = await this.#whenMade()
    if (node.command === undefined)
      throw new SondeError('AGT_COMMAND', `source ${this.#options.config.name} takes no commands`)
    const answer = await node.command(command)
    outlet.flush()
    return answer
  }

  /** Calls a duty at another period from now on. */
  setPeriod(period: DutyPeriod): void {
    this.#duties.setPeriod(period)
  }

  /** Switches it off with a reason, or on with an empty reason. */
  async pause(reason: string): Promise<void> {
    const { node, outlet } = await this.#whenMade()
    if (node.pause === undefined)
      throw new SondeError('AGT_COMMAND', `source ${this.#options.config.name} cannot be switched off`)
    if (reason !== '') node.pause(reason)
    this.#duties.follow()
    outlet.flush()
    this.#look.pause(reason)
    if (reason === '') this.#duties.callNow()
  }

  /** Has rules watch what it samples, from now on. */
  async watch(watch: Watch): Promise<void> {
    const { outlet } = await this.#whenMade()
    outlet.watch(watch)
  }

  /** Its rings; none if it was not made yet. */
  taps(): TapInfo[] {
    return this.#made?.outlet.taps() ?? []
  }

  /** Its rings of a type; none if it was not made yet. */
  rings(type: string): Tap[] {
    return this.#made?.outlet.rings(type) ?? []
  }

  /** The ring of a type and device. */
  async tap(type: string, device: string): Promise<Tap> {
    const { outlet } = await this.#whenMade()
    const tap = outlet.tap(type, device)
    if (tap !== undefined) return tap
    const { name } = this.#options.config
    throw new SondeError('AGT_TAP', `source ${name} keeps no samples of ${type} for ${JSON.stringify(device)}`)
  }

  /** A window in batches of so many bytes at most. */
  piecesOf(window: CutWindow, bytesMax: number): Iterable<Batch> {
    return this.#made?.outlet.piecesOf(window, bytesMax) ?? []
  }

  /** Ends within `limitMs`, also while calls are open; which are still open then, in words. */
  async stop(limitMs: number): Promise<string[]> {
    this.#stopped = true
    await this.#duties.stop(limitMs)
    await within(limitMs, this.#close())
    this.#made?.outlet.flush()
    return this.#duties.open()
  }

  /** A source that cannot be released keeps neither its records nor the library. */
  async #close(): Promise<void> {
    try {
      await this.#made?.node.close()
    } catch (error) {
      this.status.stats.failed.add('its end', error, Date.now())
    }
  }

  /** Imports and makes the source at the first request, and again after a failure. */
  #whenMade(): Promise<MadeSource> {
    if (this.#making === undefined) {
      this.#making = this.#make()
      this.#making.catch(() => {
        this.#making = undefined
      })
    }
    return this.#making
  }

  async #make(): Promise<MadeSource> {
    const { config, definition, status, accept, onEdge, load } = this.#options
    const { loaded, library, lanes } = await load()
    const { stats } = status
    const emit = (batch: Batch) => {
      stats.accepted(batch)
      accept(batch)
    }
    const { name, intervalMs, startedMs, paths, floodBytes } = config
    const edges = { startsMax: config.startsAMinute, slot: config.eventSlot }
    const labels = { ...definition.labels, ...loaded.library?.labels?.(library) }
    const outlet = new SourceOutlet({
      ...{ name, intervalMs, startedMs, labels, paths, library, floodBytes, emit, onEdge, edges, stats },
    })
    if (config.watch !== undefined) outlet.watch(decodeWatch(config.watch))
    const node = loaded.create(config.options, outlet.context)
    if (this.#stopped) await node.close()
    this.#made = { node, outlet, lanes }
    this.#duties.take(this.#made)
    return this.#made
  }
}
