import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../test/sonde-process.ts'

const START_LIMIT_MS = 300_000

/** A Prometheus over backfilled samples. */
export interface Peer {
  readonly version: string
  /** A range query: the bytes of its answer. */
  ask(query: string, fromMs: number, toMs: number, stepMs: number): Promise<string>
  close(): Promise<void>
}

/** Backfills a file of OpenMetrics by promtool, into one block where it can, and starts Debian's Prometheus over it. */
export async function startPeer(folder: string, openMetrics: string): Promise<Peer> {
  const data = join(folder, 'tsdb')
  const backfill = ['tsdb', 'create-blocks-from', 'openmetrics', '--max-block-duration=48h', openMetrics, data]
  execFileSync('promtool', backfill, { stdio: ['ignore', 'ignore', 'inherit'] })
  const config = join(folder, 'prometheus.yml')
  writeFileSync(config, '{}')
  const flags = [
    `--config.file=${config}`,
    '--web.listen-address=127.0.0.1:0',
    '--log.level=debug',
    `--storage.tsdb.path=${data}`,
    '--storage.tsdb.retention.time=30d',
  ]
  const child = spawn('prometheus', flags, { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const close = async () => {
    child.kill('SIGKILL')
    await ended
  }
  const url = await until('Prometheus to listen', START_LIMIT_MS, () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended with ${child.exitCode}:\n${log}`)
    const host = /"Listening on" address=(\S+)/.exec(log)?.[1]
    return host === undefined ? undefined : `http://${host}`
  })
  await until('Prometheus to be ready', START_LIMIT_MS, async () => (await fetch(`${url}/-/ready`)).ok)
  const version = execFileSync('prometheus', ['--version'], { encoding: 'utf8' }).split(' ')[2] ?? ''
  return {
    version,
    close,
    async ask(query, fromMs, toMs, stepMs) {
      const range = { start: String(fromMs / 1000), end: String(toMs / 1000), step: String(stepMs / 1000) }
      const answer = await fetch(`${url}/api/v1/query_range`, {
        method: 'POST',
        body: new URLSearchParams({ query, ...range }),
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`Prometheus refused: ${text.slice(0, 500)}`)
      return text
    },
  }
}
