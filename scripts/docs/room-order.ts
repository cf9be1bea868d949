// The order of rooms in CONTRIBUTING.md, from the list that the check reads: between `<!-- rooms -->` and
// `<!-- /rooms -->`.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOM_ORDER } from '../check/rooms.ts'
import { root } from '../check/sources.ts'

const BEGIN = '<!-- rooms -->\n'
const END = '<!-- /rooms -->\n'
const COLUMNS_MAX = 120

/** The page CONTRIBUTING.md with the order of rooms between its two marks. */
export function contributingPage(): string {
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`CONTRIBUTING.md needs the line ${BEGIN.trim()} and then ${END.trim()}`)
  return `${page.slice(0, begin)}${BEGIN}\n${orderBlock()}\n${page.slice(end)}`
}

/** A block of code with a paragraph for each package. */
function orderBlock(): string {
  const groups = Object.entries(ROOM_ORDER)
  const width = Math.max(...groups.map(([group]) => group.length)) + 2
  const lines = groups.flatMap(([group, rooms]) =>
    wrap(rooms, COLUMNS_MAX - width).map((line, index) => `${(index === 0 ? group : '').padEnd(width)}${line}`),
  )
  return ['```', ...lines, '```', ''].join('\n')
}

/** `a < b < c` in lines of at most `columns`. */
function wrap(rooms: readonly string[], columns: number): string[] {
  const lines: string[] = []
  for (const room of rooms) {
    const longer = `${lines.at(-1)} < ${room}`
    if (lines.length === 0) lines.push(room)
    else if (longer.length <= columns) lines[lines.length - 1] = longer
    else lines.push(`< ${room}`)
  }
  return lines
}
