// The table of docs/host.md of what node_exporter shows and Sonde does not, between `<!-- left out -->` and
// `<!-- /left out -->`.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../check/sources.ts'
import { LEFT_OUT, type LeftOut } from './node-exporter-left-out.ts'

const BEGIN = '<!-- left out -->\n'
const END = '<!-- /left out -->\n'

/** The page docs/host.md with the table between its two marks. */
export function hostPage(): string {
  const page = readFileSync(join(root, 'docs/host.md'), 'utf8')
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`docs/host.md needs the line ${BEGIN.trim()} and then ${END.trim()}`)
  const head = ['| Collector | What is missing | Why |', '|---|---|---|']
  const table = [...head, ...LEFT_OUT.map(lineOf), ''].join('\n')
  return `${page.slice(0, begin)}${BEGIN}\n${table}\n${page.slice(end)}`
}

function lineOf({ collectors, missing, why, isOptional }: LeftOut): string {
  const names = collectors.map((name) => `\`${name}\``).join(', ')
  return `| ${names}${isOptional ? ' (off by default)' : ''} | ${missing} | ${why} |`
}
