import { type Batch, SondeError } from '@sonde/sdk'
import { within } from '@sonde/sdk/internal'
import type { Watch } from '../rules/watch.ts'
import type { Tap } from '../sampling/tap.ts'
import type { LibraryDefinition, LoadedSource, Probe, SourceDefinition } from '../sources/source.ts'
import { CallLanes } from './call-lanes.ts'
import { cutWindow } from './cut-window.ts'
import type { HostEdge } from './edge-gate.ts'
import { HostedSource } from './hosted-source.ts'
import type { DutyPeriod, HostedConfig, TapInfo, WindowEnd, WindowRequest } from './protocol.ts'
import { SourceStatus } from './source-status.ts'

/** For how long an open call keeps others from starting where its library does not say. Unit: milliseconds. */
const PATIENCE_MS = 100
/** A window is handed over in pieces of this size. Unit: bytes. */
const PIECE_BYTES = 256 << 10
/** Windows that are handed over at a time; each is copied out of its ring. */
const WINDOWS_MAX = 4

/** Takes a piece of a window; the next one follows when the promise resolves. */
export type TakePiece = (batch: Batch) => void | Promise<void>

/** The operations of a host, in this process or elsewhere. */
export interface SourceHost {
  /** Process id where that is another one. */
  readonly pid: number | undefined
  /** Looks through one source, without sampling it. */
  probe(given: Pick<SourceToStart, 'config' | 'definition'>): Promise<Probe>
  /** Has a source answer a command. */
  command(source: string, command: unknown): Promise<unknown>
  /** Calls a duty at another period, for as long as the agent runs. */
  setPeriod(source: string, period: DutyPeriod): Promise<void>
  /** Lets rules watch the samples of a source until the agent ends; the edges come from the source. */
  watch(source: string, watch: Watch): Promise<void>
  /** Switches a source off with a reason, or on with an empty reason, until the agent ends. */
  pause(source: string, reason: string): Promise<void>
  /** The rings of samples that a source keeps. */
  taps(source: string): Promise<readonly TapInfo[]>
  /** Hands the samples of a stretch of time to whoever asks, in pieces. Their times are of the wall clock. */
  window(source: string, request: WindowRequest, take: TakePiece): Promise<WindowEnd>
  /** Ends within the deadline; says which calls were open then. */
  stop(deadlineMs: number): Promise<readonly string[]>
}

/** A source of a host. */
export interface SourceToStart {
  readonly config: HostedConfig
  readonly definition: SourceDefinition
  readonly status: SourceStatus
  readonly accept: (batch: Batch) => void
  /** Called with each edge, behind its mark and all records before it. Default: nobody is told. */
  readonly onEdge?: (edge: HostEdge) => void
  /** Its host was lost, and with it what its rules saw. Default: nobody is told. */
  readonly onLost?: () => void
  /** Called after each call. Default: nobody is told. */
  readonly onStatus?: () => void
}

/** Options of a {@link Host}. */
export interface HostOptions {
  /** Calls that may be open at a time: the threads that they run on. Default: no limit. */
  readonly openLimit?: number
  /** Nothing but calls over their limit is left. Default: nobody is told. */
  readonly onBlocked?: () => void
}

interface OpenLibrary {
  readonly definition: LibraryDefinition
  readonly library: unknown
  readonly lanes: CallLanes
}

/**
 * Runs sources: opens each library once, schedules the duties, and hands out commands and windows. The same in the
 * agent, in a worker, in a child process, and in a command without an agent.
 */
export class Host implements SourceHost {
  readonly pid = undefined
  readonly #options: HostOptions
  readonly #sources = new Map<string, HostedSource>()
  readonly #libraries = new Map<string, Promise<OpenLibrary>>()
  readonly #lanes: CallLanes[] = []
  /** Of the sources without a library: nothing keeps one from the other. */
  readonly #ownLanes: CallLanes
  #windows = 0

  constructor(options: HostOptions = {}) {
    this.#options = options
    this.#ownLanes = this.#lanesOf({ parallel: Number.POSITIVE_INFINITY })
  }

  /** Makes a source and starts it. `phase`: see `startTicker`. */
  start(given: SourceToStart, phase?: number): void {
    const source = this.#make(given)
    this.#sources.set(given.config.name, source)
    source.start(phase)
  }

  async probe(given: Pick<SourceToStart, 'config' | 'definition'>): Promise<Probe> {
    const source = this.#make({ ...given, status: new SourceStatus(), accept: () => undefined })
    try {
      return await source.probe()
    } finally {
      await source.stop(0)
    }
  }

  async command(source: string, command: unknown): Promise<unknown> {
    return this.#sourceOf(source).command(command)
  }

  async setPeriod(source: string, period: DutyPeriod): Promise<void> {
    this.#sourceOf(source).setPeriod(period)
  }

  watch(source: string, watch: Watch): Promise<void> {
    return this.#sourceOf(source).watch(watch)
  }

  pause(source: string, reason: string): Promise<void> {
    return this.#sourceOf(source).pause(reason)
  }

  async taps(source: string): Promise<readonly TapInfo[]> {
    return this.#sourceOf(source).taps()
  }

  /** The rings of a type, themselves: for who runs this host in its own process. */
  rings(source: string, type: string): readonly Tap[] {
    return this.#sourceOf(source).rings(type)
  }

  async window(source: string, request: WindowRequest, take: TakePiece): Promise<WindowEnd> {
    const hosted = this.#sourceOf(source)
    const tap = await hosted.tap(request.type, request.device)
    if (this.#windows >= WINDOWS_MAX)
      throw new SondeError('AGT_WINDOW', `${WINDOWS_MAX} windows are being handed over; ask again in a moment`)
    this.#windows++
    try {
      const window = cutWindow(tap, request)
      for (const piece of hosted.piecesOf(window, PIECE_BYTES)) await take(piece)
      return { records: window.count, leftOut: window.leftOut }
    } finally {
      this.#windows--
    }
  }

  async stop(deadlineMs: number): Promise<readonly string[]> {
    const open = await Promise.all([...this.#sources.values()].map((source) => source.stop(deadlineMs)))
    // A library must not be closed under a call.
    if (open.flat().length > 0) return open.flat()
    const closing = [...this.#libraries.values()].map(async (opening) => {
      const { definition, library } = await opening
      await definition.close(library)
    })
    // A library that is still being opened, or that refuses, ends with the process.
    await within(deadlineMs, Promise.allSettled(closing))
    this.#libraries.clear()
    return []
  }

  #sourceOf(name: string): HostedSource {
    const source = this.#sources.get(name)
    if (source !== undefined) return source
    const known = [...this.#sources.keys()].join(', ')
    throw new SondeError('AGT_SOURCE', `no source ${JSON.stringify(name)} runs here; there are: ${known}`)
  }

  #make(given: SourceToStart): HostedSource {
    const { definition, config, onStatus } = given
    return new HostedSource({
      ...given,
      onStatus: () => {
        onStatus?.()
        if (this.#isBlocked()) this.#options.onBlocked?.()
      },
      load: async () => {
        const loaded = await definition.load()
        const opened = loaded.library === undefined ? undefined : await this.#open(loaded.library, config)
        return { loaded, library: opened?.library, lanes: opened?.lanes ?? this.#ownLanes }
      },
    })
  }

  #open(definition: NonNullable<LoadedSource['library']>, { options, paths }: HostedConfig): Promise<OpenLibrary> {
    let opening = this.#libraries.get(definition.name)
    if (opening === undefined) {
      const lanes = this.#lanesOf(definition)
      opening = (async () => ({ definition, library: await definition.open(options, paths), lanes }))()
      this.#libraries.set(definition.name, opening)
      // It may be there at the next look.
      opening.catch(() => this.#libraries.delete(definition.name))
    }
    return opening
  }

  #lanesOf({ parallel, patienceMs = PATIENCE_MS, loadShare = 1 }: Omit<LibraryDefinition, 'name' | 'open' | 'close'>) {
    const { openLimit = Number.POSITIVE_INFINITY } = this.#options
    const lanes = new CallLanes({ parallel, patienceMs, loadShare, openLimit })
    this.#lanes.push(lanes)
    return lanes
  }

  /** Whether it can do nothing any more: its sources are stuck, but for those that have nothing to read. */
  #isBlocked(): boolean {
    if (this.#lanes.some((lanes) => lanes.isBlocked)) return true
    const states = [...this.#sources.values()].map(({ status }) => status.state)
    return states.includes('stuck') && states.every((state) => IDLE.has(state))
  }
}

const IDLE: ReadonlySet<string> = new Set(['stuck', 'absent', 'denied'])
