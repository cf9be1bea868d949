import type { Labels, ResultMeta } from '@sonde/sdk/api'
import { type GridColumn, labelKey, type SampleGrid } from '../api/sample-grid.ts'
import type { ChartSpec } from '../chart/chart-spec.ts'
import { binWords } from '../format/bins.ts'
import { edgeQuantity } from '../format/quantity.ts'

/** One histogram as a heat strip: what of a chart comes from its columns. */
export interface HeatStrip extends Required<Pick<ChartSpec, 'members' | 'edges'>> {
  readonly labels: Labels
  /** Tells it from other histograms of the same question. */
  readonly key: string
  readonly columns: readonly GridColumn[]
}

/** The histograms among some columns: a device with other edges, or with edges that changed, is another strip. */
export function heatStripsOf(columns: readonly GridColumn[], meta: ResultMeta, grid: SampleGrid): HeatStrip[] {
  const edges = edgeQuantity(meta)
  const bins = columns.filter(({ bin }) => bin !== undefined)
  const byHistogram = Map.groupBy(bins, ({ labels, edges: all }) => `${labelKey(labels)} ${all}`)
  return [...byHistogram].map(([key, own]) => ({
    key,
    labels: own[0]?.labels ?? {},
    edges,
    columns: own,
    members: own.flatMap((column) => {
      const { bin, resetsMs } = column
      const label = bin === undefined ? '' : binWords(bin, edges)
      return bin === undefined ? [] : [{ key: label, label, bin, resetsMs, values: grid.slice(column) }]
    }),
  }))
}
