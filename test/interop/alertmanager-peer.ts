import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryDir, until } from '../sonde-process.ts'

const START_LIMIT_MS = 120_000

/** An alert as Alertmanager sends it to a webhook. */
export interface SentAlert {
  readonly status: 'firing' | 'resolved'
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** An Alertmanager whose only receiver is a webhook of the test. */
export interface AlertmanagerPeer {
  /** `host:port`, for the configuration of Prometheus. */
  readonly target: string
  /** Alerts that the webhook has received, in order. */
  readonly received: readonly SentAlert[]
}

/** Starts Debian's Alertmanager on a free port, with a webhook as its receiver. Both end with the test. */
export async function startAlertmanager(t: Pick<TestContext, 'after'>): Promise<AlertmanagerPeer> {
  const received: SentAlert[] = []
  const webhook = createServer(async (request, response) => {
    const chunks: Buffer[] = await request.toArray()
    received.push(...(JSON.parse(Buffer.concat(chunks).toString()) as { alerts: SentAlert[] }).alerts)
    response.end()
  }).listen(0, '127.0.0.1')
  t.after(() => webhook.close())
  await once(webhook, 'listening')
  const { port } = webhook.address() as AddressInfo

  const dir = temporaryDir()
  const config = join(dir.path, 'alertmanager.yml')
  const receiver = { name: 'test', webhook_configs: [{ url: `http://127.0.0.1:${port}/` }] }
  // JSON is YAML too.
  writeFileSync(config, JSON.stringify({ route: { receiver: 'test', group_wait: '0s' }, receivers: [receiver] }))
  const flags = [`--config.file=${config}`, `--storage.path=${dir.path}`, '--cluster.listen-address=']
  const child = spawn('prometheus-alertmanager', ['--web.listen-address=127.0.0.1:0', ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  const ended = once(child, 'close')
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    dir.remove()
  })
  const target = await until('Alertmanager to listen', START_LIMIT_MS, () => {
    if (child.exitCode !== null) throw new Error(`Alertmanager ended with ${child.exitCode}:\n${log}`)
    return /Listening.* address=(\S+)/.exec(log)?.[1]
  })
  return { target, received }
}
