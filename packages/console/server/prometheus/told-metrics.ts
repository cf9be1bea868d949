import { densityExpression } from './compile.ts'
import { type MetadataEntry, type MetricMetadata, metadataOf } from './metadata.ts'
import { INSTANT_LIMIT_MS, type Transport } from './transport.ts'

/** How long what a server says of its metrics is taken as it is. Unit: milliseconds. */
const RENEWED_MS = 60_000
/** Most metrics that are known beyond their name. Policy: further ones are known by it alone. */
const METRIC_COUNT = 50_000
/** Where nothing tells the distance of samples: the default of Prometheus' own examples. Unit: milliseconds. */
const INTERVAL_DEFAULT_MS = 15_000
/** Distances that scrapes have. Unit: seconds. */
const USUAL_S = [0.25, 0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600]

/** What a server tells of its metrics, and how far apart their samples are. It is asked anew in the background. */
export class ToldMetrics {
  readonly #transport: Transport
  readonly #givenMs: number | undefined
  #entries: ReadonlyMap<string, MetadataEntry> = new Map()
  #seenMs = INTERVAL_DEFAULT_MS
  #hasSimulated = false
  #agentCount = 0
  #askedMs = Number.NEGATIVE_INFINITY
  #first: Promise<void> | undefined

  /** @param intervalMs Distance of the samples; default: as the server's `up` has it. Unit: milliseconds. */
  constructor(transport: Transport, intervalMs?: number) {
    this.#transport = transport
    this.#givenMs = intervalMs
  }

  /** Distance of the samples. Unit: milliseconds. */
  get intervalMs(): number {
    return this.#givenMs ?? this.#seenMs
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
    if (nowMs - this.#askedMs > RENEWED_MS) {
      this.#askedMs = nowMs
      const renewed = this.#renew()
      this.#first ??= renewed
    }
    await this.#first
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
      this.#givenMs ?? this.#askDistance(),
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

  async #askDistance(): Promise<void> {
    await this.#ask(densityExpression(), (density) => {
      const seconds = 0.95 / Number(density)
      const usual = USUAL_S.find((each) => each >= seconds)
      if (usual !== undefined) this.#seenMs = usual * 1000
    })
  }

  /** Asks for one number; `take` is called with none where there is none. */
  async #ask(query: string, take: (value: string | undefined) => void): Promise<void> {
    const asked = { path: '/api/v1/query', form: { query }, limitMs: INSTANT_LIMIT_MS, depthOfList: 3 } as const
    let found: string | undefined
    await this.#transport.ask({ ...asked, isAside: true }, (text) => {
      found = (JSON.parse(text) as { value?: readonly [number, string] }).value?.[1]
    })
    take(found)
  }
}
