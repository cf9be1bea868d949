import type { Labels } from '@sonde/sdk/api'
import type { PanelLine } from './panel.ts'

/** A line of the newest sample in each step. */
export function last(metric: string, label: string): PanelLine {
  return { metric, function: 'last', label }
}

/** A line of the increase of a counter per second. `labels` are constant labels of the field. */
export function rate(metric: string, label: string, labels?: Labels): PanelLine {
  return { metric, function: 'rate', label, ...(labels ? { labels } : {}) }
}
