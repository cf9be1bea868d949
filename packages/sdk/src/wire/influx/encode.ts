import type { Batch, SourceInfo } from '../../schema/batch.ts'
import type { Slot } from '../../schema/layout.ts'
import { isPresent, labelText, readField } from '../../schema/reader.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { type Views, viewsOf } from '../../schema/views.ts'
import { timeNsOf } from '../record-time.ts'
import { fieldText, keyText, measurementText } from './escape.ts'

/** Properties of the receiver. */
export interface LineOptions {
  /** Name of this host, for the tag `host` of records that name no other. */
  readonly host: string
  /**
   * Whether the server has unsigned integers: InfluxDB 2 and 3. A field keeps one type for ever, so the type follows
   * from the declared field and never from a value.
   */
  readonly hasUnsigned: boolean
}

/** The field with the values that the server cannot hold. */
const LEFT_OUT = 'left_out'
/** Keys that InfluxDB keeps for itself, and {@link LEFT_OUT}. */
const RESERVED: ReadonlySet<string> = new Set(['time', '_measurement', '_field', LEFT_OUT])
const INT64_MAX = 2n ** 63n - 1n

/** One record of a batch. */
interface BatchRecord {
  readonly views: Views
  readonly offset: number
  readonly symbols: Batch['symbols']
}

/**
 * Records as InfluxDB line protocol, one line each: the type is the measurement, labels are tags, all other fields are
 * fields, times are nanoseconds. Elements of arrays are `field.0`, fields of nested records `outer.inner`. A value that
 * the server cannot hold is no field of its own: the text field `left_out` has `name=value` of each. These are NaN, the
 * infinities and, without unsigned integers, values above 2^63-1. Pure.
 */
export function encodeInfluxLines(batches: readonly Batch[], options: LineOptions): string {
  let lines = ''
  for (const batch of batches) {
    const { type, source, count, bytes, symbols } = batch
    const start = measurementText(type.name) + sourceTags(type, source, options.host)
    const fields = type.layout.slots.filter((slot) => slot !== type.time && slot.field.role !== 'label')
    const views = viewsOf(bytes)
    for (let i = 0; i < count; i++) {
      const record = { views, offset: i * type.layout.recordBytes, symbols }
      lines += `${start}${labelTags(type, record)} ${fieldsText(type, fields, record, options)} ${timeNsOf(batch, views, i)}\n`
    }
  }
  return lines
}

/** Tags of the source. A label of the record with the same name wins. */
function sourceTags(type: RecordType, { id, tag, labels, host }: SourceInfo, here: string): string {
  const own = new Set(type.labels.map(({ name }) => name))
  const tags = { host: host ?? here, source: id, source_tag: tag, ...labels }
  return Object.entries(tags)
    .filter(([name]) => !own.has(name))
    .map(([name, text]) => tagText(name, text))
    .join('')
}

function labelTags(type: RecordType, { views, offset, symbols }: BatchRecord): string {
  let tags = ''
  for (const slot of type.labels) tags += tagText(slot.name, labelText(slot, views, offset, symbols))
  return tags
}

/** A tag cannot be empty; InfluxDB treats a missing tag as an empty tag. */
function tagText(name: string, text: string): string {
  const value = keyText(text)
  return value === '' ? '' : `,${keyName(name)}=${value}`
}

function keyName(name: string): string {
  return RESERVED.has(name) ? `${name}_` : keyText(name)
}

function fieldsText({ layout }: RecordType, slots: readonly Slot[], record: BatchRecord, options: LineOptions): string {
  const fields: string[] = []
  const leftOut: string[] = []
  const add = (name: string, slot: Slot, value: unknown) => {
    const text = valueText(slot, value, options)
    if (text === undefined) leftOut.push(`${name}=${value}`)
    else fields.push(`${keyName(name)}=${text}`)
  }
  for (const slot of slots) {
    if (!isPresent(layout, slot, record.views, record.offset)) continue
    const value = readField(slot, record.views, record.offset, record.symbols)
    if (Array.isArray(value)) for (const [i, element] of value.entries()) add(`${slot.name}.${i}`, slot, element)
    else add(slot.name, slot, value)
  }
  // A line must have a field. A record that has only labels says that it is there.
  if (leftOut.length > 0 || fields.length === 0) fields.push(`${LEFT_OUT}=${fieldText(leftOut.join(','))}`)
  return fields.join(',')
}

/** Undefined: the server cannot hold it. */
function valueText({ field: { kind } }: Slot, value: unknown, { hasUnsigned }: LineOptions): string | undefined {
  if (typeof value === 'string') return fieldText(value)
  if (typeof value === 'boolean') return String(value)
  if (kind === 'f32' || kind === 'f64') return Number.isFinite(value) ? String(value) : undefined
  if (kind === 'u64' && hasUnsigned) return `${value}u`
  if (typeof value === 'bigint' && value > INT64_MAX) return undefined
  return `${value}i`
}
