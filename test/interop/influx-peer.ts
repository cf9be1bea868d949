import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryDir, until } from '../sonde-process.ts'

const START_LIMIT_MS = 120_000

/** A row of an answer: texts by column. Numbers keep all their digits. */
export type InfluxRow = Readonly<Record<string, string>>

/** A server with a database. */
export interface InfluxPeer {
  readonly url: string
  /** Runs a query in a database, `sonde` if none is given, and returns its rows. */
  query(text: string, database?: string): Promise<readonly InfluxRow[]>
}

/** Starts Debian's InfluxDB on a free port, with the database `sonde`; it ends with the test. */
export async function startInflux(t: Pick<TestContext, 'after'>): Promise<InfluxPeer> {
  const dir = temporaryDir()
  const config = join(dir.path, 'influxdb.conf')
  const [meta, data, wal] = ['meta', 'data', 'wal'].map((name) => JSON.stringify(join(dir.path, name)))
  writeFileSync(
    config,
    `reporting-disabled = true
bind-address = "127.0.0.1:0"
[meta]
  dir = ${meta}
[data]
  dir = ${data}
  wal-dir = ${wal}
[http]
  bind-address = "127.0.0.1:0"
`,
  )
  const child = spawn('influxd', ['-config', config], { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    dir.remove()
  })
  const address = await until('InfluxDB listens', START_LIMIT_MS, () => {
    if (child.exitCode !== null) throw new Error(`InfluxDB ended: ${log}`)
    return /Listening on HTTP.* addr=(\S+)/.exec(log)?.[1]
  })
  const url = `http://${address}`
  const query = async (text: string, database = 'sonde') => {
    const headers = { accept: 'application/csv', 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams({ db: database, epoch: 'ns', q: text })
    const answer = await fetch(`${url}/query`, { method: 'POST', headers, body })
    return rowsOf(await answer.text())
  }
  await query('CREATE DATABASE sonde')
  return { url, query }
}

function rowsOf(csv: string): InfluxRow[] {
  const [head = [], ...rows] = cellsOf(csv)
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? ''])))
}

/** Rows of CSV, with line feeds and doubled quotes within quotes. */
function cellsOf(csv: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, plain = '', end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
    if (end === '' && quoted === undefined && plain === '' && row.length === 0) break
    row.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}
