import { type Batch, isPresent, SondeError } from '@sonde/sdk'
import { type Layout, type Slot, spreadsheetText } from '@sonde/sdk/internal'
import { onceForType, type ReadFormat } from './format.ts'
import { labelsJson } from './labels.ts'
import { elementText, type FieldText, isText, quotedText } from './values.ts'

/**
 * One table of one type, by RFC 4180, but lines end in LF: `source`, `tag`, `labels` as a JSON object, then a column
 * for each field, or for each element of an array. An absent value is an empty cell, an empty text is `""`.
 */
export function csv(): ReadFormat {
  let table: Batch['type'] | undefined
  const sliceText = onceForType(({ layout }, slots) => rowText(layout, slots))
  return {
    records(chosen) {
      const { type, source, symbols } = chosen.batch
      if (table !== undefined && table.fingerprint !== type.fingerprint) throw twoTables(table, type)
      const head =
        table === undefined ? `${['source', 'tag', 'labels', ...chosen.slots.flatMap(columnsOf)].map(csvCell)}\n` : ''
      table = type
      const text = sliceText(chosen)
      const labels = labelsJson(source)
      const start = `${csvCell(source.id)},${csvCell(source.tag)},${labels === '' ? '' : csvCell(labels)}`
      let lines = head
      for (const offset of chosen.offsets) lines += `${start}${text(chosen.views, offset, symbols)}\n`
      return lines
    },
    rest: () => '',
  }
}

/** A text as a cell that is never a formula, in quotes if it needs them. */
export function csvCell(given: string): string {
  const text = spreadsheetText(given)
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function twoTables(one: Batch['type'], other: Batch['type']): SondeError {
  const what = one.name === other.name ? `two versions of ${one.name}` : `${one.name} and ${other.name}`
  return new SondeError(
    'CLI_CSV',
    `csv is one table of one type, and here are ${what}; choose with --type, or take jsonl`,
  )
}

function columnsOf({ name, field }: Slot): string[] {
  const isList = field.count > 1 && field.kind !== 'char'
  return isList ? Array.from({ length: field.count }, (_, i) => `${name}.${i}`) : [name]
}

/** The cells of all fields, with a comma before each. */
function rowText(layout: Layout, slots: readonly Slot[]): FieldText {
  const fields = slots.map((slot) => ({ slot, absent: ','.repeat(columnsOf(slot).length), text: cellText(slot) }))
  return (views, offset, symbols) => {
    let row = ''
    for (const { slot, absent, text } of fields) {
      row += isPresent(layout, slot, views, offset) ? text(views, offset, symbols) : absent
    }
    return row
  }
}

function cellText(slot: Slot): FieldText {
  if (isText(slot)) return quotedText(slot, (text) => `,${csvCell(text)}`)
  const element = elementText(slot.field.kind)
  const width = slot.bytes / slot.field.count
  return (views, offset) => {
    let cells = ''
    for (let at = 0; at < slot.bytes; at += width) cells += `,${element(views.data, offset + slot.offset + at)}`
    return cells
  }
}
