import { spreadsheetText } from '../../internal/spreadsheet-text.ts'
import type { Batch } from '../../schema/batch.ts'
import { isPresent, readField } from '../../schema/reader.ts'
import { type Views, viewsOf } from '../../schema/views.ts'
import { readableRecord } from '../log-attributes.ts'
import { recordMembers } from '../record-json.ts'
import { timeNsOf } from '../record-time.ts'

/**
 * The form of a line, as the outputs `file` and `stdout` of Fluent Bit have them. `out_file`: `tag: [time, {…}]`.
 * `json_lines`: `{"date":time,…}`. `plain`: `{…}`. `csv`: the time and all values. `ltsv`: `"name":value` with tabs.
 * `template`: a text with `{name}`.
 */
export const TEXT_FORMATS = ['out_file', 'json_lines', 'plain', 'csv', 'ltsv', 'template'] as const

/** A word of {@link TEXT_FORMATS}. */
export type TextFormat = (typeof TEXT_FORMATS)[number]

/** How records become lines. */
export interface TextOptions {
  readonly format: TextFormat
  /** `flb_std`: one flat map. `custom`: the fields are in the map `values`. */
  readonly layout: 'flb_std' | 'custom'
  /** The tag of each line of `out_file`. */
  readonly tag: string
  /** The text of `template`; `{time}` is the time, `{name}` a member, and an unknown name stays as it is. */
  readonly template: string
}

type Flat = Readonly<Record<string, bigint | number | boolean | string | readonly unknown[]>>

const NS_OF_US = 1000n
const NS_OF_S = 1_000_000_000n

/**
 * Records as lines of text, one each, in the layout that DOCA's exporter gives Fluent Bit: `timestamp` in microseconds,
 * `type`, `type_name`, `source`, then labels and fields. Whole numbers have all their digits; NaN and the infinities
 * are `null`. Pure.
 */
export function encodeTextLines(batches: readonly Batch[], options: TextOptions): string {
  let lines = ''
  const isJson = options.format !== 'csv' && options.format !== 'template'
  for (const batch of batches) {
    const views = viewsOf(batch.bytes)
    for (let i = 0; i < batch.count; i++) {
      const timeNs = timeNsOf(batch, views, i)
      const values = valuesOf(batch, views, i)
      const shown = isJson ? readableRecord(batch.type, values) : values
      lines += `${lineOf(timeNs, headOf(batch, timeNs), shown, options)}\n`
    }
  }
  return lines
}

function lineOf(timeNs: bigint, head: Flat, values: Flat, { format, layout, tag, template }: TextOptions): string {
  const members = layout === 'custom' ? { ...head, values } : { ...head, ...values }
  const time = `${timeNs / NS_OF_S}.${String(timeNs % NS_OF_S).padStart(9, '0')}`
  const text = jsonMembers(members as Flat)
  switch (format) {
    case 'out_file':
      return `${tag}: [${time}, {${text}}]`
    case 'json_lines':
      return `{"date":${time},${text}}`
    case 'plain':
      return `{${text}}`
    case 'csv':
      return [time, ...Object.values(members).map(csvText)].join(',')
    case 'ltsv':
      return [`"time":${time}`, ...Object.entries(members).map(([name, value]) => jsonMembers({ [name]: value }))].join(
        '\t',
      )
    case 'template': {
      const known = new Map<string, unknown>([...Object.entries(members), ['time', time]])
      return template.replace(/\{([^{}]*)\}/g, (whole, name: string) =>
        known.has(name) ? plainText(known.get(name)) : whole,
      )
    }
  }
}

function headOf({ type, source }: Batch, timeNs: bigint): Flat {
  const kind = source.tag === '' ? 'counters' : 'events'
  return { timestamp: timeNs / NS_OF_US, type: kind, type_name: type.name, source: source.id }
}

/** Labels of the source, then the fields. A field wins over a label with its name. */
function valuesOf({ type, source, symbols }: Batch, views: Views, index: number): Flat {
  const values: Record<string, Flat[string]> = source.host === undefined ? {} : { host: source.host }
  Object.assign(values, source.labels)
  const offset = index * type.layout.recordBytes
  for (const slot of type.layout.slots) {
    if (slot !== type.time && isPresent(type.layout, slot, views, offset))
      values[slot.name] = readField(slot, views, offset, symbols)
  }
  return values
}

function jsonMembers(members: Flat): string {
  return recordMembers(members as Parameters<typeof recordMembers>[0], () => 'null')
}

/** A value in a column: text in quotes, which are doubled inside, and no formula. A line feed would begin a row. */
function csvText(value: Flat[string]): string {
  const isNumber = typeof value !== 'string' && !Array.isArray(value)
  return isNumber ? plainText(value) : `"${spreadsheetText(plainText(value)).replaceAll('"', '""')}"`
}

/** A value in one line, without quotes. */
function plainText(value: unknown): string {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\n', '\\n').replaceAll('\r', '\\r')
  if (typeof value === 'number' && !Number.isFinite(value)) return 'null'
  return typeof value === 'object' ? jsonMembers({ _: value as Flat[string] }).slice('"_":'.length) : String(value)
}
