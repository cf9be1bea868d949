// Tables of fields in the READMEs of sources, made of their types: between `<!-- fields TYPE -->` and
// `<!-- /fields -->`. Columns after the first four are written by hand, and stay with their field.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordType } from '@sonde/sdk'
import { SOURCES } from '../../packages/agent/src/sources/registry.ts'
import { filesOf, root } from '../check/sources.ts'

const MARKED = /(<!-- fields (\w+) -->\n)([\s\S]*?)(<!-- \/fields -->)/g
const MADE = ['Field', 'Kind', 'Unit', 'Meaning']

/** READMEs of sources that have such tables, by path, as they should be. */
export function readmesWithFields(): Record<string, string> {
  const types = new Map(SOURCES.flatMap((source) => source.types.map((type) => [type.name, type] as const)))
  const pages = filesOf('packages/agent/src/sources/*/README.md').map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return [path, withTables(path, text, types)] as const
  })
  return Object.fromEntries(pages.filter(([, text]) => text.includes('<!-- fields ')))
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

function tableOf(type: RecordType, [head = [], , ...rows]: readonly string[][]): string {
  const more = head.slice(MADE.length)
  const written = new Map(rows.map(([field = '', ...cells]) => [field, cells.slice(MADE.length - 1)]))
  const fields = type.layout.slots.filter(({ field }) => field.role !== 'timestamp')
  const made = fields.map(({ name, field }) => {
    const { role, kind, unit = '', help = '', optional, count } = field
    const [noun, ofText] = kind === 'symbol' ? [role === 'label' ? 'label' : 'text', ''] : [role, `, ${kind}`]
    const array = count > 1 && kind !== 'char' ? `, ${count} elements` : ''
    const quoted = `\`${name}\``
    const own = [quoted, `${noun}${ofText}${array}${optional ? ', optional' : ''}`, unit, help.replaceAll('|', '\\|')]
    return [...own, ...more.map((_, i) => written.get(quoted)?.[i] ?? '')]
  })
  return [[...MADE, ...more], [...MADE, ...more].map(() => '---'), ...made].map(lineOf).join('\n')
}

function lineOf(cells: readonly string[]): string {
  return cells[0] === '---' ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`
}
