import type { Labels } from '@sonde/sdk'

/**
 * A metric, or some of its series, as `/metrics` shows them: `rdma_hw_packet_seq_err_total{device="mlx5_3",port="1"}`.
 */
export interface Selector {
  readonly metric: string
  readonly labels: Labels
}

const FORM = /^([A-Za-z_:][\w:]*)(?:\{([^{}]*)\})?$/
/** Sticky: sought at every place, it would take the square of a long text. */
const LABEL = /[\s,]*([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/y

/** What a text selects; undefined if it is no metric at all. */
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

/** Whether a series has all these labels; it may have others too. */
export function selects(labels: Labels, series: Labels): boolean {
  return Object.entries(labels).every(([name, value]) => series[name] === value)
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_whole, character: string) => (character === 'n' ? '\n' : character))
}
