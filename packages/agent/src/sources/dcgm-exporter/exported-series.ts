import type { Labels } from '@sonde/sdk'
import { labelOf, seriesKey } from '@sonde/sdk/internal'
import type { PodLabels } from '../pods/labels.ts'
import type { SourceContext } from '../source.ts'
import type { GpuLabels } from './labels.ts'
import { dcgmSeriesType } from './series-type.ts'

/** The labels of an exported series, and their key. */
export interface ExportedLabels {
  readonly key: string
  readonly labels: Labels
}

/** The values of one scrape for a set of labels. */
interface Values extends ExportedLabels {
  readonly fields: Record<string, number | bigint>
}

/** Labels of the GPU and of the pod under their current names; other labels as the exporter writes them. */
export function exportedLabels(given: Labels, gpu: GpuLabels, pod: PodLabels | undefined): ExportedLabels {
  const { namespace = '', pod: name = '', container = '', app = '', service = '' } = pod ?? {}
  const known: Labels = { ...gpu, namespace, pod: name, container, app, service }
  const labels = Object.fromEntries(
    dcgmSeriesType.labels.map((label) => [label.name, known[label.name] ?? labelOf(given, label.name)]),
  )
  return { key: seriesKey(labels), labels }
}

/** The {@link dcgmSeriesType} records of one exporter, one for each set of labels. */
export class ExportedSeries {
  readonly #address: string
  readonly #context: SourceContext
  /** Series of the last report. */
  #shown = new Map<string, ExportedLabels>()
  #scrape = new Map<string, Values>()

  constructor(address: string, context: SourceContext) {
    this.#address = address
    this.#context = context
  }

  /** Adds a value of this scrape. If two names mean the same field, the first value counts. */
  set({ key, labels }: ExportedLabels, field: string, value: number | bigint): void {
    const { fields } = this.#scrape.get(key) ?? { fields: {} as Values['fields'] }
    fields[field] ??= value
    this.#scrape.set(key, { key, labels, fields })
  }

  /** Reports the series of the scrape and removes the others. One step per record. */
  *finish(time: bigint, reason: string): Generator<undefined, void> {
    const report = this.#context.report(this.#address)
    for (const { labels, fields } of this.#scrape.values()) {
      report.report(dcgmSeriesType, { time, ...labels, ...fields } as never)
      yield
    }
    for (const { key, labels } of this.#shown.values()) {
      if (!this.#scrape.has(key)) this.#context.absences.gone(dcgmSeriesType, labels, reason)
      yield
    }
    this.#shown = this.#scrape
    this.#scrape = new Map()
  }

  /** Removes all series, because the exporter does not answer or is no longer scraped. */
  leave(reason: string): void {
    for (const { labels } of this.#shown.values()) this.#context.absences.gone(dcgmSeriesType, labels, reason)
    this.#shown.clear()
    this.#scrape.clear()
  }
}
