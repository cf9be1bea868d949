// One record of an application at three far ends of the agent: VictoriaMetrics, an OTLP receiver and nfcapd have equal
// values, and a console over that VictoriaMetrics shows them.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { counter, createSchema, defineType, element, labelNumber, timestamp, wallNs } from '@sonde/sdk'
import type { QueryResult } from '@sonde/sdk/internal'
import { OtlpReceiver } from '../../packages/sdk/test/otlp-receiver.ts'
import { ask, metricsOf, numberOn } from '../ask.ts'
import { needs } from '../debian.ts'
import { type SondeProcess, startSonde, temporaryDir, until } from '../sonde-process.ts'
import { Nfcapd } from './flow-peers.ts'
import { launchVictoria, storedIn } from './query-peers.ts'

const LIMIT_MS = 60_000
const PORTS = [8000, 8001, 8002]
const METRICS = ['app_flow_bytes_total', 'app_flow_packets_total']

const flow = defineType('app_flow', 'A flow of an application', {
  time: timestamp(),
  to: element('IPV4_DST_ADDR'),
  port: element('L4_DST_PORT', labelNumber('u16')),
  protocol: element('PROTOCOL'),
  bytes_total: element('IN_BYTES', counter('u64', { unit: 'bytes' })),
  packets_total: element('IN_PKTS', counter('u64')),
})

/** Few enough digits for a double. */
const bytesOf = (port: number) => 2 ** 41 + port
const packetsOf = (port: number) => port * 3

/** What every far end must have: port, bytes and packets of each flow. */
const WANTED = PORTS.map((port) => `${port} ${bytesOf(port)} ${packetsOf(port)}`)

test(
  'a record of an application arrives in VictoriaMetrics, an OTLP receiver and nfcapd with equal values, and the console shows it',
  needs('victoria-metrics', 'nfcapd', 'nfdump'),
  async (t) => {
    const dir = temporaryDir()
    t.after(dir.remove)
    const [victoria, otlp, nfcapd] = await Promise.all([
      launchVictoria(t, ['-search.latencyOffset=0s'], temporaryDir()),
      OtlpReceiver.start(t),
      Nfcapd.start(t, dir.path),
    ])
    const config = join(dir.path, 'sonde.yaml')
    const now = { linger_ms: 0, sources: ['flows'] }
    const settings = {
      service: { enabled: true, sockets_dir: join(dir.path, 'sockets') },
      export: {
        remote_write: { url: `${victoria}/api/v1/write`, interval_s: 0, ...now },
        otlp: { url: otlp.url, ...now },
        netflow: { port: nfcapd.port, ...now },
      },
    }
    writeFileSync(config, JSON.stringify(settings))
    const env = { XDG_STATE_HOME: dir.path, SONDE_SERVICE_ENABLED: undefined }
    const [agent, page] = await Promise.all([
      startSonde(['agent', '--log-level', 'error', '--config', config], { env }),
      startSonde(['console', '--prometheus', victoria, '--log-level', 'error']),
    ])
    t.after(() => agent.stop())
    t.after(() => page.stop())

    const schema = createSchema({ name: 'app', ipc: { socketsDir: settings.service.sockets_dir } })
    t.after(() => schema.close())
    schema.addType(flow)
    await schema.start()
    const source = schema.createSource({ id: 'flows', tag: 'flows' })
    for (const port of PORTS)
      source.report(flow, {
        time: wallNs(),
        to: '198.51.100.7',
        port,
        protocol: 6,
        bytes_total: bytesOf(port),
        packets_total: packetsOf(port),
      })
    await schema.flush()

    await until('all values are in the OTLP receiver', LIMIT_MS, () => otlp.points().length >= PORTS.length * 2)
    assert.deepEqual(
      lines(otlp.points().map(({ metric, attributes, point }) => [metric.name, attributes.port, point.asInt])),
      WANTED,
    )

    await until('the flows are in nfcapd', LIMIT_MS, async () => {
      const sent = numberOn(await metricsOf(agent), 'sonde_sink_records_out_total{sink="netflow"}')
      return sent === PORTS.length && nfcapd.isRead
    })
    const shown = await until('the console shows all values', LIMIT_MS, async () => {
      const values = await valuesIn(page)
      return values.length >= PORTS.length * 2 && values
    })
    assert.deepEqual(lines(shown), WANTED)
    assert.deepEqual(lines(await valuesInVictoria(victoria)), WANTED)
    const flows = await nfcapd.flows()
    assert.deepEqual(
      flows.map(({ dst_port, in_bytes, in_packets }) => `${dst_port} ${in_bytes} ${in_packets}`).sort(),
      WANTED,
    )
  },
)

type Value = readonly [metric: string, port: unknown, value: unknown]

/** One line a port, as {@link WANTED} has them. */
function lines(values: readonly Value[]): string[] {
  return PORTS.map((port) => {
    const ofPort = values.filter(([, of]) => String(of) === String(port))
    const found = METRICS.flatMap((wanted) =>
      ofPort.filter(([metric]) => metric === wanted).map(([, , value]) => value),
    )
    return [port, ...found].join(' ')
  })
}

/** The newest value of each series, as a page asks for it. */
async function valuesIn(page: SondeProcess): Promise<Value[]> {
  const toMs = Math.floor(Date.now() / 1000) * 1000
  const queries = METRICS.map((metric) => ({ metric }))
  const form = { fromMs: toMs - 60_000, toMs, stepMs: 1000, queries }
  const { results } = await ask<{ results: QueryResult[] }>(page, '/api/v1/query', form)
  return results.flatMap(({ metric, series }) =>
    series.map(({ labels, values }) => [metric, labels.port, values.findLast((value) => value !== null)] as const),
  )
}

/** Every sample that is stored. */
async function valuesInVictoria(url: string): Promise<Value[]> {
  const stored = await storedIn(url, '{__name__=~"app_flow.*"}')
  return stored.flatMap(({ metric, values }) =>
    values.map((value) => [String(metric.__name__), metric.port, value] as const),
  )
}
