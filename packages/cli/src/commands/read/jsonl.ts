import { type Batch, isPresent } from '@sonde/sdk'
import { type Layout, ownLabels, type Slot } from '@sonde/sdk/internal'
import { onceForType, type ReadFormat } from './format.ts'
import { hasLabels } from './labels.ts'
import { type ElementText, elementText, type FieldText, isText, quotedText } from './values.ts'

/** How u64 and i64 are written: as a JSON number, which some parsers round beyond 2^53, or as text. */
export type Int64 = 'digits' | 'string'

/**
 * A JSON object on each line: `{"type":…,"source":…,"tag":…,"record":{…}}`, with `labels` before the record if the
 * source has any, and `clock` if that is not the wall clock. Absent fields are left out. Numbers that JSON cannot write
 * are text.
 */
export function jsonl(int64: Int64): ReadFormat {
  const sliceText = onceForType(({ layout }, slots) => recordText(layout, slots, int64))
  return {
    records(chosen) {
      const { batch, views, offsets } = chosen
      const text = sliceText(chosen)
      const start = startOf(batch)
      let lines = ''
      for (const offset of offsets) lines += `${start}${text(views, offset, batch.symbols)}}}\n`
      return lines
    },
    rest: () => '',
  }
}

function startOf({ type, source, clock }: Batch): string {
  const ofSource = { source: source.id, tag: source.tag, ...(hasLabels(source) ? { labels: ownLabels(source) } : {}) }
  const of = { type: type.name, ...ofSource, ...(clock === 'wall' ? {} : { clock }) }
  return `${JSON.stringify(of).slice(0, -1)},"record":{`
}

/** The present fields of a record, as the inside of a JSON object. */
function recordText(layout: Layout, slots: readonly Slot[], int64: Int64): FieldText {
  const fields = slots.map((slot) => ({
    slot,
    key: `${JSON.stringify(slot.name)}:`,
    text: fieldText(slot, int64),
  }))
  return (views, offset, symbols) => {
    let json = ''
    for (const { slot, key, text } of fields) {
      if (!isPresent(layout, slot, views, offset)) continue
      json += `${json === '' ? '' : ','}${key}${text(views, offset, symbols)}`
    }
    return json
  }
}

function fieldText(slot: Slot, int64: Int64): FieldText {
  if (isText(slot)) return quotedText(slot, JSON.stringify)
  const { count } = slot.field
  const element = jsonElement(slot, int64)
  if (count === 1) return (views, offset) => element(views.data, offset + slot.offset)
  const width = slot.bytes / count
  return (views, offset) => {
    let text = '['
    for (let i = 0; i < count; i++) {
      text += `${i === 0 ? '' : ','}${element(views.data, offset + slot.offset + i * width)}`
    }
    return `${text}]`
  }
}

function jsonElement({ field: { kind } }: Slot, int64: Int64): ElementText {
  const element = elementText(kind)
  if ((kind === 'u64' || kind === 'i64') && int64 === 'string') return (data, at) => `"${element(data, at)}"`
  if (kind !== 'f32' && kind !== 'f64') return element
  return (data, at) => {
    const text = element(data, at)
    return text.endsWith('N') || text.endsWith('y') ? `"${text}"` : text
  }
}
