// Tables of fields in the READMEs of sources, made of their types: between `<!-- fields TYPE -->` and
// `<!-- /fields -->`. Other columns than these are written by hand, and stay with their field.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Field, RecordType } from '@sonde/sdk'
import { constantLabelText, type Slot } from '@sonde/sdk/internal'
import { SOURCES } from '../../packages/agent/src/sources/registry.ts'
import { openFilesType } from '../../packages/agent/src/sources/template/type.ts'
import { filesOf, root } from '../check/sources.ts'

const MARKED = /(<!-- fields (\w+) -->\n)([\s\S]*?)(<!-- \/fields -->)/g
const MADE = ['Field', 'Kind', 'Unit', 'Meaning', 'Metric']
/** The template is in no registry. */
const TYPES: readonly RecordType[] = [...new Set(SOURCES.flatMap(({ types }) => types)), openFilesType]

/** READMEs of sources by path, with the tables that they should have. Every type has its table in one of them. */
export function readmesWithFields(): Record<string, string> {
  const types = new Map(TYPES.map((type) => [type.name, type]))
  const texts = filesOf('packages/agent/src/sources/*/README.md').map(
    (path) => [path, readFileSync(join(root, path), 'utf8')] as const,
  )
  const shown = texts.flatMap(([, text]) => [...text.matchAll(MARKED)].map(([, , name]) => name))
  for (const name of types.keys()) {
    const count = shown.filter((other) => other === name).length
    if (count !== 1) throw new Error(`${count} READMEs of sources have the fields of ${name}; allowed: one`)
  }
  return Object.fromEntries(texts.map(([path, text]) => [path, withTables(path, text, types)]))
}

function withTables(path: string, text: string, types: ReadonlyMap<string, RecordType>): string {
  return text.replace(MARKED, (_whole, start: string, name: string, table: string, end: string) => {
    const type = types.get(name)
    if (type === undefined) throw new Error(`${path}: no source has a type called ${name}`)
    return `${start}\n${tableOf(type, rowsOf(table))}\n\n${end}`
  })
}

/** Cells of the table that a README has. */
function rowsOf(table: string): string[][] {
  const lines = table.split('\n').filter((line) => line.startsWith('|'))
  return lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
}

function tableOf(type: RecordType, [oldHead = [], , ...oldRows]: readonly string[][]): string {
  const slots = type.layout.slots.filter(({ field }) => field.role !== 'timestamp')
  const hasMetrics = slots.some((slot) => ownMetricOf(type, slot) !== '')
  const head = [...(hasMetrics ? MADE : MADE.slice(0, -1)), ...oldHead.filter((column) => !MADE.includes(column))]
  const written = new Map(oldRows.map(([field = '', ...cells]) => [field, cells]))
  const rows = slots.map((slot) => {
    const { unit = '', help = '' } = slot.field
    const quoted = `\`${slot.name}\``
    const made = [quoted, kindOf(slot.field), unit, help.replaceAll('|', '\\|'), ownMetricOf(type, slot)]
    return head.map((column) => {
      const index = MADE.indexOf(column)
      return (index < 0 ? written.get(quoted)?.[oldHead.indexOf(column) - 1] : made[index]) ?? ''
    })
  })
  return [head, head.map(() => '---'), ...rows].map(lineOf).join('\n')
}

function kindOf({ role, kind, optional, count }: Field): string {
  const [noun, ofText] = kind === 'symbol' ? [role === 'label' ? 'label' : 'text', ''] : [role, `, ${kind}`]
  const array = count > 1 && kind !== 'char' ? `, ${count} elements` : ''
  return `${noun}${ofText}${array}${optional ? ', optional' : ''}`
}

/**
 * The metric of a field with its constant labels, quoted. Empty if the field has none, or if the names of type and
 * field make its name.
 */
function ownMetricOf(type: RecordType, { name, field }: Slot): string {
  const metric = type.metrics.get(name)
  const labels = constantLabelText(field)
  if (labels !== '') return `\`${metric}{${labels}}\``
  return metric === undefined || metric === `${type.name}_${name}` ? '' : `\`${metric}\``
}

function lineOf(cells: readonly string[]): string {
  return cells[0] === '---' ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`
}
