import type { SourceInfo } from './batch.ts'
import { labelText } from './reader.ts'
import type { RecordType } from './record-type.ts'
import type { Views } from './views.ts'

/** Label names and values of a series, in the order in which they are written. */
export type Labels = Readonly<Record<string, string>>

/** The labels of the record at `offset`: its own label fields, then the source's constant ones. */
export function labelsOf(type: RecordType, source: SourceInfo, views: Views, offset: number): Labels {
  const labels: Record<string, string> = {}
  for (const slot of type.labels) labels[slot.name] = labelText(slot, views, offset, source.symbols)
  return mergeLabels(labels, source.labels)
}

/** The labels of a record and then the constant ones of its source. What the record says of itself wins: it tells its series apart. */
export function mergeLabels(own: Labels, constant: Labels): Labels {
  const merged: Record<string, string> = { ...own }
  for (const name in constant) merged[name] ??= constant[name] ?? ''
  return merged
}

/**
 * Labels as one text, `device="eth0",port="1"`: the form Prometheus writes, and the key of a series inside its type. Backslash, quote and
 * newline are escaped.
 */
export function seriesKey(labels: Labels): string {
  let key = ''
  for (const name in labels) {
    key += `${key === '' ? '' : ','}${name}="${escapeLabelValue(labels[name] ?? '')}"`
  }
  return key
}

/** A label value with backslash, quote and newline escaped, and lone surrogates replaced, so that it is valid UTF-8. */
export function escapeLabelValue(text: string): string {
  const clean = text.isWellFormed() ? text : text.toWellFormed()
  return /[\\"\n]/.test(clean) ? clean.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`)) : clean
}

/**
 * Numbers series by the raw bytes of their labels: a record finds its series without building text. Each type and source has its own.
 */
export class SeriesIndex {
  readonly #ids = new Map<string | number, number>()
  readonly #type: RecordType
  #count = 0

  constructor(type: RecordType) {
    this.#type = type
  }

  /** Number of series seen. */
  get count(): number {
    return this.#count
  }

  /** The number of the record's series, from 0 in order of appearance. */
  of(views: Views, offset: number): number {
    const key = this.#keyOf(views, offset)
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    this.#ids.set(key, this.#count)
    return this.#count++
  }

  /** Forgets a series whose number will not be used again. */
  forget(views: Views, offset: number): void {
    this.#ids.delete(this.#keyOf(views, offset))
  }

  #keyOf(views: Views, offset: number): string | number {
    const { labels } = this.#type
    const only = labels[0]
    if (only === undefined) return 0
    if (labels.length === 1 && only.bytes === 4) return views.data.getUint32(offset + only.offset, true)
    let key = ''
    for (const { offset: at, bytes } of labels) {
      for (let i = 0; i + 1 < bytes; i += 2) key += String.fromCharCode(views.data.getUint16(offset + at + i, true))
      if (bytes % 2 === 1) key += String.fromCharCode(views.u8[offset + at + bytes - 1] ?? 0)
    }
    return key
  }
}
