import type { SourceInfo } from './batch.ts'
import { labelText } from './reader.ts'
import type { RecordType } from './record-type.ts'
import type { Views } from './views.ts'

/** Label names and values of a series, in the order of output. */
export type Labels = Readonly<Record<string, string>>

/**
 * The value of a label, empty if there is none. Safe for any name: inherited properties such as `toString` are no
 * labels.
 */
export function labelOf(labels: Labels, name: string): string {
  return Object.hasOwn(labels, name) ? (labels[name] ?? '') : ''
}

/** The labels of the record at `offset`: its label fields, then the constant labels of its source. */
export function labelsOf(type: RecordType, source: SourceInfo, views: Views, offset: number): Labels {
  const labels: Record<string, string> = {}
  for (const slot of type.labels) labels[slot.name] = labelText(slot, views, offset, source.symbols)
  return mergeLabels(labels, source.labels)
}

/**
 * The labels of a record, then the constant labels of its source. A label of the record wins over a constant label. An
 * empty label of the record does not: otherwise an application could hide the constant labels that separate its series
 * from those of the agent.
 */
export function mergeLabels(own: Labels, constant: Labels): Labels {
  const merged: Record<string, string> = { ...own }
  for (const name in constant) if (labelOf(own, name) === '') merged[name] = constant[name] ?? ''
  return merged
}

/**
 * Labels as one text, `device="eth0",port="1"`, as Prometheus writes them; the key of a series within its type.
 * Backslash, quote and newline are escaped.
 */
export function seriesKey(labels: Labels): string {
  let key = ''
  for (const name in labels) {
    key += `${key === '' ? '' : ','}${name}="${escapeLabelValue(labels[name] ?? '')}"`
  }
  return key
}

/** Sticky: sought at every place, it would take the square of a long text. */
const LABEL = /[\s,]*([^\s,="]+)="((?:[^"\\]|\\.)*)"/y

/** The labels of a text that {@link seriesKey} made, or that a person wrote in that form. Ends at the first fault. */
export function parseSeriesKey(text: string): Labels {
  const labels: [name: string, value: string][] = []
  LABEL.lastIndex = 0
  for (let label = LABEL.exec(text); label !== null; label = LABEL.exec(text))
    labels.push([label[1] ?? '', unescaped(label[2] ?? '')])
  return Object.fromEntries(labels)
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_whole, character: string) => (character === 'n' ? '\n' : character))
}

/** A label value with backslash, quote and newline escaped, and lone surrogates replaced, so that it is valid UTF-8. */
export function escapeLabelValue(text: string): string {
  const clean = text.isWellFormed() ? text : text.toWellFormed()
  return /[\\"\n]/.test(clean) ? clean.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`)) : clean
}
