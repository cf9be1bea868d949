import {
  createPrometheus,
  createSource,
  type Prometheus,
  type PrometheusOptions,
  type RecordOf,
  type RecordType,
  type Source,
} from '../src/index.ts'
import { type ExposedFamily, parseExposition } from './parse-exposition.ts'

/** The two formats, as the view names them. */
export const FORMATS = ['text', 'openmetrics'] as const
const ACCEPT = { text: 'text/plain;version=0.0.4', openmetrics: 'application/openmetrics-text;version=1.0.0' }

/** A Prometheus view on a clock that the test moves. */
export class PrometheusRig {
  readonly view: Prometheus
  nowMs = 1_800_000_000_000

  constructor(options: PrometheusOptions = {}) {
    this.view = createPrometheus({ nowMs: () => this.nowMs, ...options })
  }

  source(id = 's', labels: Readonly<Record<string, string>> = {}): Source {
    return createSource({ id, labels, emit: (batch) => this.view.accept(batch) })
  }

  /** Reports records of one type as one batch. */
  report<T extends RecordType>(source: Source, type: T, ...records: RecordOf<T>[]): void {
    source.report(type, records)
    source.flush()
  }

  /** The text of a format. */
  async page(format: (typeof FORMATS)[number]): Promise<string> {
    return (await this.bytes(format)).toString()
  }

  async bytes(format: (typeof FORMATS)[number]): Promise<Buffer> {
    const scrape = await this.view.render({ accept: ACCEPT[format] })
    const bytes = Buffer.concat(scrape.chunks)
    scrape.release()
    return bytes
  }

  /** What an independent reader finds in a format. */
  async families(format: (typeof FORMATS)[number]): Promise<Map<string, ExposedFamily>> {
    return parseExposition(await this.bytes(format), format)
  }

  /** The lines of text 0.0.4 that are no comments. */
  async lines(): Promise<string[]> {
    return (await this.page('text')).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  }

  dropped(reason: string): number {
    return this.view.stats.dropped.get(reason) ?? 0
  }
}
