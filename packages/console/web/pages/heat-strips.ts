import type { Labels, ResultMeta } from '@sonde/sdk/api'
import { type GridColumn, labelKey, type SampleGrid } from '../api/sample-grid.ts'
import type { ChartSpec } from '../chart/chart-spec.ts'
import { binWords } from '../format/bins.ts'
import { edgeQuantity } from '../format/quantity.ts'

/** A histogram as a heat strip: the parts of a chart that come from its columns. */
export interface HeatStrip extends Required<Pick<ChartSpec, 'members' | 'edges'>> {
  readonly labels: Labels
  /** Distinguishes histograms of the same query. */
  readonly key: string
  readonly columns: readonly GridColumn[]
}

/** The histograms among columns. Different or changed bin edges make a separate strip. */
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
