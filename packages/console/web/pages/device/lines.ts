import type { PanelLine } from './panels.ts'

/** A line of the newest sample in each step. */
export function last(metric: string, label: string): PanelLine {
  return { metric, function: 'last', label }
}

/** A line of the increase of a counter per second. */
export function rate(metric: string, label: string): PanelLine {
  return { metric, function: 'rate', label }
}
