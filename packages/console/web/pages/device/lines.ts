import type { PanelLine } from './panels.ts'

/** The newest sample of a metric in each step. */
export function last(metric: string, label: string): PanelLine {
  return { metric, function: 'last', label }
}

/** What a counter gains a second. */
export function rate(metric: string, label: string): PanelLine {
  return { metric, function: 'rate', label }
}
