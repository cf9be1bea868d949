import type { Labels } from '@sonde/sdk'
import { parseSeriesKey } from '@sonde/sdk/internal'

/**
 * A metric, or some of its series, as `/metrics` shows them:
 * `rdma_hw_packet_seq_err_total{rdma_device="mlx5_3",port="1"}`.
 */
export interface Selector {
  readonly metric: string
  readonly labels: Labels
}

const FORM = /^([A-Za-z_:][\w:]*)(?:\{([^{}]*)\})?$/

/** Parses a selector; returns undefined if the text cannot be a metric. */
export function parseSelector(text: string): Selector | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [, metric = '', inner = ''] = match
  return { metric, labels: parseSeriesKey(inner) }
}

/** Whether a series has all these labels. It may have more. */
export function selects(labels: Labels, series: Labels): boolean {
  return Object.entries(labels).every(([name, value]) => series[name] === value)
}
