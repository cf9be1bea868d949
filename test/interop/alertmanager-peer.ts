import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
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
  /** Who got it, by the routes. */
  readonly receiver: string
}

/** What it sends to a webhook. */
interface Message {
  readonly receiver: string
  readonly alerts: readonly Omit<SentAlert, 'receiver'>[]
}

/** An Alertmanager whose receivers are a webhook of the test. */
export interface AlertmanagerPeer {
  /** `host:port`, for the configuration of Prometheus. */
  readonly target: string
  /** Alerts that the webhook has received, in order. */
  readonly received: readonly SentAlert[]
}

/**
 * Starts Debian's Alertmanager on a free port with this configuration, except that it waits for nothing, and that all
 * receivers are a webhook of the test. Both end with the test.
 */
export async function startAlertmanager(t: Pick<TestContext, 'after'>, configured: URL): Promise<AlertmanagerPeer> {
  const received: SentAlert[] = []
  const webhook = createServer(async (request, response) => {
    const chunks: Buffer[] = await request.toArray()
    const { receiver, alerts } = JSON.parse(Buffer.concat(chunks).toString()) as Message
    received.push(...alerts.map((alert) => ({ ...alert, receiver })))
    response.end()
  }).listen(0, '127.0.0.1')
  t.after(() => webhook.close())
  await once(webhook, 'listening')
  const { port } = webhook.address() as AddressInfo

  const dir = temporaryDir()
  const config = join(dir.path, 'alertmanager.yml')
  const hasty = readFileSync(configured, 'utf8')
    .replace(/group_(wait|interval): .*/g, 'group_$1: 1s')
    .replace(/http:[^']+/g, `http://127.0.0.1:${port}/`)
  writeFileSync(config, hasty)
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
