import { densityExpression, newestExpression } from './compile.ts'
import { type MetadataEntry, type MetricMetadata, metadataOf } from './metadata.ts'
import { INSTANT_LIMIT_MS, instantOf, type Transport } from './transport.ts'

/** How long what a server says of its metrics is taken as it is. Unit: milliseconds. */
const RENEWED_MS = 60_000
/** The same while it has no samples, and in the first minute in which it has: it may have just started. */
const EMPTY_RENEWED_MS = 2000
const YOUNG_RENEWED_MS = 10_000
/** Most metrics that are known beyond their name. Policy: further ones are known by it alone. */
const METRIC_COUNT = 50_000
/** Where nothing tells the distance of samples: the default of Prometheus' own examples. Unit: milliseconds. */
const INTERVAL_DEFAULT_MS = 15_000
/**
 * The longest latency that is learned: that by which VictoriaMetrics hides samples. Of a server whose newest sample is
 * older nobody can say whether it is late or has no targets any more. Unit: milliseconds.
 */
const LATENCY_MAX_MS = 30_000
/** How long VictoriaMetrics takes until what it was given can be found. Unit: milliseconds. */
const VICTORIA_LATENCY_MS = 2000
/** Distances that scrapes have. Unit: seconds. */
const USUAL_S = [0.25, 0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600]

/** What is known of a server's samples without asking it. Unit: milliseconds. */
export interface GivenTimes {
  /** Distance of the samples. Default: as the server's `up` has it, else 15 s. */
  readonly intervalMs?: number
  /** How much older the newest sample of a server is than the last scrape. Default: as it is seen. */
  readonly latencyMs?: number
}

/**
 * What a server tells of its metrics, how far apart their samples are, and how late. It is asked anew in the
 * background.
 */
export class ToldMetrics {
  readonly #transport: Transport
  readonly #given: GivenTimes
  #entries: ReadonlyMap<string, MetadataEntry> = new Map()
  #intervalMs = INTERVAL_DEFAULT_MS
  #latencyMs = 0
  /** When it was seen first that it has samples, by a clock that only rises. */
  #sampledMs: number | undefined
  #hasSimulated = false
  #agentCount = 0
  #askedMs = Number.NEGATIVE_INFINITY
  #first: Promise<void> | undefined

  constructor(transport: Transport, given: GivenTimes = {}) {
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

  /** Whether it has series of simulated hardware, as of when it was last asked. */
  get hasSimulated(): boolean {
    return this.#hasSimulated
  }

  /** Agents that it has scraped a moment ago, as of when it was last asked. */
  get agentCount(): number {
    return this.#agentCount
  }

  /** Waits for what the server tells the first time. Never rejects: where it tells nothing, names have to do. */
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
    // OpenMetrics names a counter without its end.
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
    // What waits for the first answer need not wait as long again.
    else this.#askedMs = performance.now() - RENEWED_MS + INSTANT_LIMIT_MS
  }

  async #askTimes(): Promise<void> {
    if (this.#given.intervalMs === undefined) await this.#askDistance()
    await this.#ask(newestExpression(), (newest) => {
      if (newest === undefined) return
      this.#sampledMs ??= performance.now()
      // By our clock, as questions are. The last scrape may be as long ago as they are apart.
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

  /** Asks for one number; `take` is called with none if there is none. */
  async #ask(query: string, take: (value: string | undefined) => void): Promise<void> {
    const asked = { ...instantOf({ query }), isAside: true } as const
    let found: string | undefined
    await this.#transport.ask(asked, (text) => {
      found = (JSON.parse(text) as { value?: readonly [number, string] }).value?.[1]
    })
    take(found)
  }
}
