import { densityExpression, newestExpression } from './compile.ts'
import { type MetadataEntry, type MetricMetadata, metadataOf } from './metadata.ts'
import { INSTANT_LIMIT_MS, instantOf, type ServerTransport } from './server-transport.ts'

/** How long metadata of a server is reused. Unit: milliseconds. */
const RENEWED_MS = 60_000
/** The same while the server has no samples, and in the minute after its first: it may have just started. */
const EMPTY_RENEWED_MS = 2000
const YOUNG_RENEWED_MS = 10_000
/** Number of metrics with metadata. Policy: further metrics are known by name only. */
const METRIC_COUNT = 50_000
/** Default distance of samples, as in the examples of Prometheus. Unit: milliseconds. */
const INTERVAL_DEFAULT_MS = 15_000
/**
 * Longest latency that is learned: the time by which VictoriaMetrics hides samples. If the newest sample is older, the
 * server is either late or has no targets any more, and it is unknown which. Unit: milliseconds.
 */
const LATENCY_MAX_MS = 30_000
/** How long VictoriaMetrics takes until queries find a new sample. Unit: milliseconds. */
const VICTORIA_LATENCY_MS = 2000
/** Usual scrape intervals. Unit: seconds. */
const USUAL_S = [0.25, 0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600]

/** Configured times of a server's samples. Unit: milliseconds. */
export interface GivenTimes {
  /** Distance of the samples. Default: from the server's `up`, else 15 s. */
  readonly intervalMs?: number
  /** How much older the newest sample of a server is than the last scrape. Default: measured. */
  readonly latencyMs?: number
}

/**
 * Metadata of a server's metrics, and the distance and latency of their samples. Renewed in the background.
 */
export class ToldMetrics {
  readonly #transport: ServerTransport
  readonly #given: GivenTimes
  #entries: ReadonlyMap<string, MetadataEntry> = new Map()
  #intervalMs = INTERVAL_DEFAULT_MS
  #latencyMs = 0
  /** When samples were first seen, by a monotonic clock. */
  #sampledMs: number | undefined
  #hasSimulated = false
  #agentCount = 0
  #askedMs = Number.NEGATIVE_INFINITY
  #first: Promise<void> | undefined

  constructor(transport: ServerTransport, given: GivenTimes = {}) {
    this.#transport = transport
    this.#given = given
  }

  /** Distance of the samples. Unit: milliseconds. */
  get intervalMs(): number {
    return this.#given.intervalMs ?? this.#intervalMs
  }

  /** How much older the newest sample is than the last scrape. Unit: milliseconds. */
  get latencyMs(): number {
    const leastMs = this.#transport.isVictoria ? VICTORIA_LATENCY_MS : 0
    return this.#given.latencyMs ?? Math.max(leastMs, this.#latencyMs)
  }

  /** Whether the server has series of simulated hardware, as of the last renewal. */
  get hasSimulated(): boolean {
    return this.#hasSimulated
  }

  /** Number of agents that the server scraped recently, as of the last renewal. */
  get agentCount(): number {
    return this.#agentCount
  }

  /** Waits for the first metadata. Never rejects: without metadata, roles follow from names. */
  async ready(): Promise<void> {
    const nowMs = performance.now()
    if (nowMs - this.#askedMs > this.#renewedMs(nowMs)) {
      this.#askedMs = nowMs
      const renewed = this.#renew()
      this.#first ??= renewed
    }
    await this.#first
  }

  #renewedMs(nowMs: number): number {
    if (this.#sampledMs === undefined) return EMPTY_RENEWED_MS
    return nowMs - this.#sampledMs < RENEWED_MS ? YOUNG_RENEWED_MS : RENEWED_MS
  }

  of(metric: string): MetricMetadata {
    // OpenMetrics names a counter without its suffix `_total`.
    return metadataOf(metric, this.#entries.get(metric) ?? this.#entries.get(metric.replace(/_total$/, '')))
  }

  async #renew(): Promise<void> {
    const entries = new Map<string, MetadataEntry>()
    const metadata = this.#transport.ask(
      { path: '/api/v1/metadata', limitMs: INSTANT_LIMIT_MS, depthOfList: 2, isAside: true },
      (text) => {
        if (entries.size >= METRIC_COUNT) return
        for (const [metric, said] of Object.entries(JSON.parse(`{${text}}`) as Record<string, MetadataEntry[]>)) {
          const { type = '', help = '', unit = '' } = said[0] ?? {}
          entries.set(metric, { type, help: help.slice(0, 1000), unit })
        }
      },
    )
    const [told] = await Promise.allSettled([
      metadata,
      this.#askTimes(),
      this.#ask('count({simulated="true"})', (count) => {
        this.#hasSimulated = Number(count) > 0
      }),
      this.#ask('count(count by (instance) (sonde_process_uptime_seconds))', (count = '0') => {
        this.#agentCount = Number(count)
      }),
    ])
    if (told.status === 'fulfilled') this.#entries = entries
    // After a failure the next attempt comes sooner.
    else this.#askedMs = performance.now() - RENEWED_MS + INSTANT_LIMIT_MS
  }

  async #askTimes(): Promise<void> {
    if (this.#given.intervalMs === undefined) await this.#askDistance()
    await this.#ask(newestExpression(), (newest) => {
      if (newest === undefined) return
      this.#sampledMs ??= performance.now()
      // By our clock, as in queries. The last scrape may be as old as the distance of samples.
      const lateMs = Date.now() - Number(newest) * 1000 - this.intervalMs
      this.#latencyMs = Math.min(LATENCY_MAX_MS, Math.max(0, lateMs))
    })
  }

  async #askDistance(): Promise<void> {
    await this.#ask(densityExpression(), (density) => {
      const seconds = 0.95 / Number(density)
      const usual = USUAL_S.find((each) => each >= seconds)
      if (usual !== undefined) this.#intervalMs = usual * 1000
    })
  }

  /** Queries a single number, and passes it to `take`; undefined if there is none. */
  async #ask(query: string, take: (value: string | undefined) => void): Promise<void> {
    const asked = { ...instantOf({ query }), isAside: true } as const
    let found: string | undefined
    await this.#transport.ask(asked, (text) => {
      found = (JSON.parse(text) as { value?: readonly [number, string] }).value?.[1]
    })
    take(found)
  }
}
