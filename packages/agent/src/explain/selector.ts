import type { Labels } from '@sonde/sdk'

/**
 * A metric, or some of its series, as `/metrics` shows them: `rdma_hw_packet_seq_err_total{device="mlx5_3",port="1"}`.
 */
export interface Selector {
  readonly metric: string
  readonly labels: Labels
}

const FORM = /^([A-Za-z_:][\w:]*)(?:\{([^{}]*)\})?$/
/**
 * The sticky flag keeps the time linear. Without it, a search from every position takes quadratic time on a long text.
 */
const LABEL = /[\s,]*([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/y

/** Parses a selector; returns undefined if the text cannot be a metric. */
export function parseSelector(text: string): Selector | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [, metric = '', inner = ''] = match
  const labels: [name: string, value: string][] = []
  LABEL.lastIndex = 0
  for (let label = LABEL.exec(inner); label !== null; label = LABEL.exec(inner))
    labels.push([label[1] ?? '', unescaped(label[2] ?? '')])
  return { metric, labels: Object.fromEntries(labels) }
}

/** Whether a series has all these labels. It may have more. */
export function selects(labels: Labels, series: Labels): boolean {
  return Object.entries(labels).every(([name, value]) => series[name] === value)
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_whole, character: string) => (character === 'n' ? '\n' : character))
}
