// The files of alert rules, with the addresses of their runbooks.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Addresses, readAddresses } from '../addresses.ts'
import { filesOf, root } from '../check/sources.ts'

/** The pages of alerts in this repository: also their address while `addresses.json` has none. */
const RUNBOOKS = 'docs/runbooks'

/** A file of rules with `runbook_url` of each alert: its page below the address of the runbooks. */
export function withRunbooks(rules: string, { runbooks }: Addresses = readAddresses()): string {
  const folder = (runbooks || RUNBOOKS).replace(/\/$/, '')
  let alert = ''
  const lines = rules.split('\n').map((line) => {
    alert = /^ *- alert: (\w+)$/.exec(line)?.[1] ?? alert
    return line.replace(/^( *runbook_url: ).*$/, `$1${folder}/${alert}.md`)
  })
  return lines.join('\n')
}

/** All files of rules, by their path from the root. */
export function rulesWithRunbooks(): Record<string, string> {
  const paths = filesOf('deploy/prometheus/rules/*.yaml')
  return Object.fromEntries(paths.map((path) => [path, withRunbooks(readFileSync(join(root, path), 'utf8'))]))
}
