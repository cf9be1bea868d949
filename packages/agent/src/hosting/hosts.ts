import { type Batch, SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import pino, { type Logger } from 'pino'
import { SOURCES_MODULE } from '../places.ts'
import type { ConfiguredSource, Probe, SourceDefinition, SourcePaths } from '../sources/source.ts'
import { eventSlot, type HostEdge } from './edge-gate.ts'
import { Host, type SourceHost, type SourceToStart } from './host.ts'
import type { HostedConfig } from './protocol.ts'
import { RemoteHost } from './remote-host.ts'
import { RunningSource } from './running-source.ts'
import { type Settled, SourceStatus } from './source-status.ts'
import { type StuckCall, toldStuck } from './stuck-call.ts'
import { startProcess, startWorker } from './transport.ts'

/** What hosts take from the configuration of an agent. */
export interface HostsConfig {
  readonly paths: SourcePaths
  readonly limits: {
    /** Longest that a call may take. Unit: milliseconds. */
    readonly source_call_ms: number
    /** Limit of the records of a device in an interval. Unit: bytes. */
    readonly source_flood_bytes: number
  }
}

/** The shared context of all hosts of an agent. */
export interface HostsEnvironment {
  readonly config: HostsConfig
  /** URL of the module with the definitions in `SOURCES`, which a child process imports. Default: the registry. */
  readonly sourcesModule?: string | undefined
  readonly accept: (batch: Batch) => void
  /** Called with each edge of a source, behind its mark and all records before it. Default: nobody is told. */
  readonly onEdge?: (source: string, edge: HostEdge) => void
  /** The host of a source was lost: what its rules saw is not seen any more. Default: nobody is told. */
  readonly onLost?: (source: string) => void
  /** Events that may start of one device in a minute. Default: 60. */
  readonly startsAMinute?: number
  /** Why a source is switched off from the start; empty if it is not. Default: none is. */
  readonly pausedOf?: (definition: SourceDefinition) => string
  /** Called when a source begins to read, also in a host that replaced another. Default: nobody is told. */
  readonly onReading?: (source: string) => void
  readonly log: Logger
}

/**
 * Absent hardware is normal, and the ready line lists the found hardware: only states that need a person are logged
 * louder.
 */
const LEVEL_OF_STATE = {
  starting: 'debug',
  reading: 'debug',
  absent: 'debug',
  denied: 'warn',
  starved: 'warn',
  stuck: 'warn',
  failed: 'warn',
} as const

/** The result of a probe of a source; a starved host has no result. */
export interface ProbedSource {
  readonly name: string
  readonly probe: Probe | { readonly state: 'starved'; readonly reason: string }
}

/** A host, and how it starts a source. */
interface StartingHost extends SourceHost {
  start(given: SourceToStart, phase?: number): void
}

/** The hosts of an agent, and the sources in them: one in its own process, one a worker, and one a library. */
export class Hosts {
  /** In the order of the configuration, then those that were added. */
  readonly sources: readonly RunningSource[]
  /** Start of all sources. Unit: milliseconds since the Unix epoch. */
  readonly startedMs = Date.now()
  readonly #running: RunningSource[]
  readonly #environment: HostsEnvironment
  readonly #hosts = new Map<string, StartingHost>()
  readonly #given: SourceToStart[]

  constructor(configs: readonly ConfiguredSource[], environment: HostsEnvironment) {
    this.#environment = environment
    this.#given = configs.map((config, index) => this.#giveOf(config, index))
    this.#running = configs.map((config, index) => {
      const { status } = this.#given[index] as SourceToStart
      return new RunningSource(config, status, this.#hostOf(config))
    })
    this.sources = this.#running
  }

  /** Adds a source to those that run, and starts it. No other source has its name. */
  add(config: ConfiguredSource): void {
    const given = this.#giveOf(config, this.#given.length)
    this.#given.push(given)
    const host = this.#hostOf(config)
    this.#running.push(new RunningSource(config, given.status, host))
    host.start(given)
  }

  /** Processes of the hosts that have one of their own. */
  children(): { readonly host: string; readonly pid: number }[] {
    return [...this.#hosts].flatMap(([host, { pid }]) => (pid === undefined ? [] : [{ host, pid }]))
  }

  /** Starts every source. `phase`: see `startTicker`. */
  start(phase?: number): void {
    for (const given of this.#given) this.#hostOf(given.config).start(given, phase)
  }

  /** Ends within `limitMs`, also while calls hang. */
  async stop(limitMs: number): Promise<void> {
    const { log } = this.#environment
    const stop = async (name: string, host: StartingHost) => {
      const open = await host.stop(limitMs)
      if (open.length > 0) log.warn({ host: name, open }, 'a host was ended while calls were open')
    }
    await Promise.all([...this.#hosts].map(([name, host]) => stop(name, host)))
  }

  /** Looks through every source without sampling, beside one another. */
  probe(): Promise<ProbedSource[]> {
    return Promise.all(
      this.#given.map(async (given) => {
        const { name } = given.config
        try {
          return { name, probe: await this.#hostOf(given.config).probe(given) }
        } catch (error) {
          const isStarved = error instanceof SondeError && error.code === 'AGT_STARVED'
          return { name, probe: { state: isStarved ? 'starved' : 'failed', reason: messageOf(error) } }
        }
      }),
    )
  }

  #hostOf({ name }: { readonly name: string }): StartingHost {
    const given = this.#given.find(({ config }) => config.name === name) as SourceToStart
    const { host: kind } = given.definition
    const key = kind === 'worker' ? `worker ${name}` : kind
    let host = this.#hosts.get(key)
    if (host === undefined) {
      host = this.#makeHost(kind, name)
      this.#hosts.set(key, host)
    }
    return host
  }

  #makeHost(kind: string, source: string): StartingHost {
    if (kind === 'agent') return new Host()
    const { config, log } = this.#environment
    const isWorker = kind === 'worker'
    return new RemoteHost({
      label: isWorker ? `source ${source}` : `library ${kind}`,
      start: isWorker ? startWorker : startProcess,
      callLimitMs: config.limits.source_call_ms,
      log,
    })
  }

  #giveOf({ name, definition, intervalMs, options }: ConfiguredSource, index: number): SourceToStart {
    const {
      config,
      sourcesModule = SOURCES_MODULE,
      accept,
      onEdge,
      onLost,
      onReading,
      startsAMinute,
      pausedOf,
      log,
    } = this.#environment
    const { paths, limits } = config
    const { name: type, module = sourcesModule } = definition
    const hosted: HostedConfig = {
      ...{ module, name, type, options, intervalMs, paths },
      floodBytes: limits.source_flood_bytes,
      callLimitMs: limits.source_call_ms,
      eventSlot: eventSlot(index),
      ...(startsAMinute === undefined ? {} : { startsAMinute }),
      startedMs: this.startedMs,
      paused: pausedOf?.(definition) ?? '',
    }
    const onSettled = ({ state, reason, before }: Settled) => {
      const isBack = state === 'reading' && before !== 'starting'
      log[isBack ? 'info' : LEVEL_OF_STATE[state]]({ source: name, state, reason }, 'source')
      if (state === 'reading') onReading?.(name)
    }
    // A source that reads other devices all the same changes no state.
    const onStuck = (call: StuckCall) => {
      const { device, duty, reason, fix } = toldStuck(call)
      log.warn({ source: name, device, duty, reason, fix }, 'a call is stuck')
    }
    const onBack = ({ device, duty }: StuckCall) => {
      log.info({ source: name, device, duty }, 'a call that was stuck came back, or its device left')
    }
    return {
      config: hosted,
      definition,
      status: new SourceStatus({ onSettled, onStuck, onBack }),
      accept,
      onEdge: (edge) => onEdge?.(name, edge),
      onLost: () => onLost?.(name),
    }
  }
}

/** What {@link probeSources} may do. */
export interface ProbeOptions {
  /** Whether it loads libraries of vendors, which runs their code. Else it looks whether they are there. */
  readonly loadsLibraries: boolean
}

/** Looks through every configured source without sampling: what `sonde check` tells. */
export async function probeSources(
  config: HostsConfig & { readonly dataSources: readonly ConfiguredSource[] },
  { loadsLibraries }: ProbeOptions,
): Promise<ProbedSource[]> {
  const log = pino({ level: 'silent' })
  const probed = config.dataSources.filter(({ definition }) => loadsLibraries || definition.libraries === undefined)
  const hosts = new Hosts(probed, { config, accept: () => undefined, log })
  const found = new Map((await hosts.probe()).map((one) => [one.name, one.probe]))
  await hosts.stop(PROBE_STOP_MS)
  return config.dataSources.map(({ name, definition, options }) => {
    return { name, probe: found.get(name) ?? notLoaded(definition.look?.(options, config.paths)) }
  })
}

/** The result of a check of files for a source whose library is not loaded. */
function notLoaded(looked: Probe | undefined): Probe {
  if (looked?.state !== 'present') return looked ?? { state: 'absent', reason: 'its library is not loaded' }
  return { state: 'present', found: `${looked.found}; --probe loads it and looks for devices` }
}

/** Unit: milliseconds. */
const PROBE_STOP_MS = 500
